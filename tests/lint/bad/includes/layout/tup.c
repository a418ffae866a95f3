#include "ir/ir.h"
#include "runtime/number.h"
