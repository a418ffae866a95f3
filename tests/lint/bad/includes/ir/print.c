#include "passes/passes.h"
#include "layout/ctx.h"
#include "layout/ixp.h"
