#include "../frontend/ast.h"
#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "ir/ir.h"
#include "ir/private.h"
#include "passes/passes.h"
#include <llvm-c/Core.h>
#include <layout/layout.h>
