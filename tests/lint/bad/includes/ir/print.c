#include "passes/passes.h"
#include "base/ctx.h"
#include "layout/ixp.h"
