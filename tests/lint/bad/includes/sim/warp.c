#include "runtime/rt.h"
#include "ir/ir.h"
