#include "ir/ir.h"
#include "passes/passes.h"
