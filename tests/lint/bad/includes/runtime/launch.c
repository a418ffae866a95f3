#include "ir/base.h"
#include "runtime/kdesc.h"
#include <cuda.h>
