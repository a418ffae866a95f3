#include "layout/base.h"
#include "runtime/kdesc.h"
#include <cuda.h>
