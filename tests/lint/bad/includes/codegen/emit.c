#include "runtime/kdesc.h"
#include "runtime/dsl.h"
#include <llvm-c/Core.h>
