#include "base/base.h"
#include "runtime/kdesc.h"
#include <cuda.h>
#include "sim/watch.h"
