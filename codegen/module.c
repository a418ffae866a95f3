/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* module.c - an LLVM module for all kernels of a compilation: types, shared memory, debug file; and
 * for each kernel its signature, launch attributes, hardware names and body.
 *     kernel gemm ... block=384
 * ->  define ptx_kernel void @gemm(ptr byval([128 x i8]) %A.map, ...) #0
 *     #0 = { "nvvm.maxntid"="384" "nvvm.minctasm"="1" } */
#include "codegen/cg.h"

#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>

/* ------------------------------------------------------------------ the module */
static void target_init(void)
{
	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
}

/* Kept for later: LLVM is not to be left by a jump. */
static void on_llvm(LLVMDiagnosticInfoRef d, void *user)
{
	CgMod *m = user;
	char *said = LLVMGetDiagInfoDescription(d);
	if (LLVMGetDiagInfoSeverity(d) == LLVMDSError && !m->complaint)
		m->complaint = ctx_str(m->ctx, said);
	LLVMDisposeMessage(said);
}

static LLVMTargetMachineRef machine_new(const char *target, const char *triple, int level)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	LLVMTargetRef t;
	char *why, features[16] = "+ptx";
	const Target *row = target_by_name(target);
	pthread_once(&once, target_init);
	if (!row || LLVMGetTargetFromTriple(triple, &t, &why))
		panic("no target %s for %s", target, triple);
	for (const char *v = row->ptx_version; *v && strlen(features) + 1 < sizeof features; v++)
		if (*v != '.')
			features[strlen(features)] = *v;
	return LLVMCreateTargetMachine(t, triple, target, features,
				       level ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelLess,
				       LLVMRelocDefault, LLVMCodeModelDefault);
}

static void types_open(CgMod *m)
{
	m->tvoid = LLVMVoidTypeInContext(m->lc);
	m->i1 = LLVMInt1TypeInContext(m->lc);
	m->i8 = LLVMInt8TypeInContext(m->lc);
	m->i16 = LLVMInt16TypeInContext(m->lc);
	m->i32 = LLVMInt32TypeInContext(m->lc);
	m->i64 = LLVMInt64TypeInContext(m->lc);
	m->f32 = LLVMFloatTypeInContext(m->lc);
	m->p0 = LLVMPointerTypeInContext(m->lc, 0);
	m->p1 = LLVMPointerTypeInContext(m->lc, 1);
	m->p3 = LLVMPointerTypeInContext(m->lc, 3);
	m->p7 = LLVMPointerTypeInContext(m->lc, 7);
}

LLVMTypeRef cg_elem(const CgMod *m, Elem e)
{
	if (elem_rows[e].bits < 8)
		return LLVMIntTypeInContext(m->lc, (unsigned)elem_rows[e].bits);
	static LLVMTypeRef (*const types[EL_COUNT])(LLVMContextRef) = {
#define ELEM(id, name, also, bits, cls, number, mantissa, exponent, tma, sim, llvm, ...) \
	[EL_##id] = LLVM##llvm##TypeInContext,
#include "runtime/elems.def"
	};
	return types[e](m->lc);
}

/* Dynamic shared memory of the launch; buffers lie in it by their offsets. */
static LLVMValueRef shared_memory(CgMod *m)
{
	LLVMValueRef v =
		LLVMAddGlobalInAddressSpace(m->mod, LLVMArrayType2(m->i8, 0), "dslc$shared", 3);
	LLVMSetAlignment(v, 1024);
	return v;
}

/* ptxas reads a file name up to the next quote and knows no escapes. */
static const char *plain_name(Ctx *c, const char *name)
{
	char *s = arena_strndup(ctx_arena(c), name, strlen(name));
	for (char *at = s; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			*at = '_';
	return s;
}

/* Lines only, as directives in the text: the kind that the C API's enumeration leaves out. */
static void debug_open(CgMod *m)
{
	LLVMDWARFEmissionKind directives_only = (LLVMDWARFEmissionKind)3;
	const char *name = plain_name(m->ctx, m->opt->source_name ? m->opt->source_name : "");
	m->di = LLVMCreateDIBuilder(m->mod);
	m->file = LLVMDIBuilderCreateFile(m->di, name, strlen(name), "", 0);
	LLVMDIBuilderCreateCompileUnit(m->di, LLVMDWARFSourceLanguageC99, m->file, "dslc", 4, true,
				       "", 0, 0, "", 0, directives_only, 0, false, false, "", 0, "",
				       0);
	LLVMValueRef version = LLVMConstInt(m->i32, LLVMDebugMetadataVersion(), false);
	LLVMAddModuleFlag(m->mod, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
			  LLVMValueAsMetadata(version));
}

static void module_drop(Held *h)
{
	cg_module_close((CgMod *)h);
}

void cg_module_open(CgMod *m, Ctx *c, const CgOpt *opt, const char *target)
{
	static const char triple[] = "nvptx64-nvidia-cuda";
	const char *name = opt->source_name ? opt->source_name : "";
	*m = (CgMod){.ctx = c, .arena = arena_new(), .opt = opt};
	m->lc = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(m->lc, on_llvm, m);
	m->mod = LLVMModuleCreateWithNameInContext(name, m->lc);
	m->tm = machine_new(target, triple, opt->opt_level);
	LLVMSetTarget(m->mod, triple);
	LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->tm);
	LLVMSetModuleDataLayout(m->mod, layout);
	LLVMDisposeTargetData(layout);
	types_open(m);
	m->smem = shared_memory(m);
	debug_open(m);
	hold(&m->held, module_drop);
}

void cg_module_close(CgMod *m)
{
	hold_end(&m->held);
	if (m->b)
		LLVMDisposeBuilder(m->b);
	LLVMDisposeDIBuilder(m->di);
	LLVMDisposeTargetMachine(m->tm);
	LLVMDisposeModule(m->mod);
	LLVMContextDispose(m->lc);
	arena_free(m->arena);
}

/* ------------------------------------------------------------------ a kernel */
static void set_attr(Cg *g, const char *name, const char *value)
{
	LLVMAttributeRef a = LLVMCreateStringAttribute(g->m->lc, name, (unsigned)strlen(name),
						       value, (unsigned)strlen(value));
	LLVMAddAttributeAtIndex(g->fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

static void launch_attrs(Cg *g)
{
	char text[32];
	int ctas = kernel_cluster_ctas(g->k);
	snprintf(text, sizeof text, "%d", (int)attrs_int(&g->k->attrs, A_BLOCK, 0));
	set_attr(g, "nvvm.maxntid", text);
	snprintf(text, sizeof text, "%d", kernel_ctas(g->k));
	set_attr(g, "nvvm.minctasm", text);
	if (ctas > 1) {
		snprintf(text, sizeof text, "%d,1,1", ctas);
		set_attr(g, "nvvm.cluster_dim", text);
	}
	unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);
	LLVMAddAttributeAtIndex(g->fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(g->m->lc, kind, 0));
}

/* A tensor map lies in the parameters by value and is read in place. */
static void tensor_map_attrs(Cg *g, unsigned i)
{
	LLVMContextRef lc = g->m->lc;
	unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
	unsigned align = LLVMGetEnumAttributeKindForName("align", 5);
	LLVMTypeRef map = LLVMArrayType2(g->m->i8, KD_MAP_BYTES);
	LLVMAddAttributeAtIndex(g->fn, i + 1, LLVMCreateTypeAttribute(lc, byval, map));
	LLVMAddAttributeAtIndex(g->fn, i + 1, LLVMCreateEnumAttribute(lc, align, KD_MAP_ALIGN));
	LLVMAddAttributeAtIndex(g->fn, i + 1,
				LLVMCreateStringAttribute(lc, "nvvm.grid_constant", 18, "", 0));
}

static LLVMTypeRef param_type(const CgMod *m, const Param *p)
{
	switch (p->kind) {
	case KP_TMAP:
		return m->p0;
	case KP_PTR:
	case KP_WORK:
	case KP_SEMAPHORES:
		return m->p1;
	case KP_SYM:
	case KP_MADE:
	case KP_EPOCH:
		return m->i64;
	case KP_SCALAR:
		return cg_elem(m, p->arg->type->elem);
	}
	panic("a parameter of kind %d", (int)p->kind);
}

static void bind_param(Cg *g, const Param *p, LLVMValueRef v)
{
	const char *name = p->sym ? p->sym : p->map ? p->map->out->name : p->arg->name;
	IxFact any = {.lo = INT64_MIN, .hi = INT64_MAX, .div = 1};
	IxFact verdict = {.lo = 0, .hi = 1, .div = 1};
	LLVMSetValueName2(v, name, strlen(name));
	if (p->sym)
		cg_bind_name(g, p->sym, p->kind == KP_MADE ? verdict : any, v);
	else
		cg_bind(g, p->kind == KP_TMAP ? p->map->out : p->arg, 1, LLVMTypeOf(v))->reg[0] = v;
}

static void function_new(Cg *g, const Params *params)
{
	const Kernel *k = g->k;
	LLVMTypeRef *types = NEWN(g->arena, LLVMTypeRef, params->n + 1);
	for (int i = 0; i < params->n; i++)
		types[i] = param_type(g->m, &params->at[i]);
	LLVMTypeRef type = LLVMFunctionType(g->m->tvoid, types, (unsigned)params->n, false);
	g->fn = LLVMAddFunction(g->m->mod, k->name, type);
	LLVMSetFunctionCallConv(g->fn, LLVMPTXKernelCallConv);
	launch_attrs(g);
	for (int i = 0; i < params->n; i++) {
		if (params->at[i].kind == KP_TMAP)
			tensor_map_attrs(g, (unsigned)i);
		bind_param(g, &params->at[i], LLVMGetParam(g->fn, (unsigned)i));
	}
}

static void debug_function(Cg *g)
{
	CgMod *m = g->m;
	int line = 0, col = 0;
	if (g->k->loc.src >= 0)
		loc_line(m->ctx, g->k->loc, &line, &col);
	LLVMMetadataRef type =
		LLVMDIBuilderCreateSubroutineType(m->di, m->file, NULL, 0, LLVMDIFlagZero);
	g->sub = LLVMDIBuilderCreateFunction(m->di, m->file, g->k->name, strlen(g->k->name), "", 0,
					     m->file, (unsigned)line, type, false, true,
					     (unsigned)line, LLVMDIFlagZero, true);
	LLVMSetSubprogram(g->fn, g->sub);
	LLVMSetCurrentDebugLocation2(g->b,
				     LLVMDIBuilderCreateDebugLocation(m->lc, (unsigned)line,
								      (unsigned)col, g->sub, NULL));
}

/* ------------------------------------------------------------------ names of the hardware */
static bool in_op(const Op *op, const char *name)
{
	if (op->kind == OP_LAUNCH)
		return false; /* the host's */
	for (int i = 0; i < op->nin; i++)
		if (op->in[i].at && ix_uses(op->in[i].at, name))
			return true;
	for (int i = 0; i < op->nix; i++)
		if (ix_uses(op->ix[i], name))
			return true;
	return false;
}

static bool kernel_uses(const Kernel *k, const char *name)
{
	bool roles = strcmp(name, "warp") == 0; /* which role a warp has is asked by number */
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (in_op(op, name) || (roles && op->kind == OP_ROLE))
			return true;
	return false;
}

LLVMValueRef cg_thread(Cg *g)
{
	return cg_call(g, "llvm.nvvm.read.ptx.sreg.tid.x", NULL, NULL, 0);
}

LLVMValueRef cg_lane(Cg *g)
{
	return LLVMBuildAnd(g->b, cg_thread(g), cg_int32(g, 31), "");
}

LLVMValueRef cg_of_lane(Cg *g, LLVMValueRef x, LLVMValueRef lane)
{
	LLVMValueRef args[4] = {cg_int32(g, -1), x, lane, cg_int32(g, 31)};
	return cg_call(g, "llvm.nvvm.shfl.sync.idx.i32", NULL, args, 4);
}

/* All lanes have the same; read from lane 0, so that ptxas knows it too. */
static LLVMValueRef warp_id(Cg *g)
{
	LLVMValueRef warp = LLVMBuildLShr(g->b, cg_thread(g), cg_int32(g, 5), "");
	return cg_of_lane(g, warp, cg_int32(g, 0));
}

static LLVMValueRef hardware_value(Cg *g, const char *name, const char *sreg)
{
	char intrinsic[64];
	if (strcmp(name, "warp") == 0)
		return warp_id(g);
	if (strcmp(name, "lane") == 0)
		return cg_lane(g);
	snprintf(intrinsic, sizeof intrinsic, "llvm.nvvm.read.ptx.sreg.%s",
		 strcmp(sreg, "cluster_ctarank") == 0 ? "cluster.ctarank" : sreg);
	return cg_call(g, intrinsic, NULL, NULL, 0);
}

static void bind_hardware(Cg *g)
{
	static const struct {
		const char *name, *sreg;
		int64_t lo, hi;
	} rows[] = {
#define SYM(id, name, lo, hi, sreg) {name, sreg, lo, hi},
#include "ir/syms.def"
#undef SYM
	};
	int64_t threads = attrs_int(&g->k->attrs, A_BLOCK, 1024);
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		const char *name = ctx_str(g->m->ctx, rows[i].name);
		if (!kernel_uses(g->k, name))
			continue;
		IxFact fact = {.lo = rows[i].lo, .hi = rows[i].hi, .div = 1};
		if (strcmp(name, "tid") == 0)
			fact.hi = threads - 1;
		if (strcmp(name, "warp") == 0)
			fact.hi = (threads - 1) / 32;
		cg_bind_name(g, name, fact, hardware_value(g, name, rows[i].sreg));
	}
}

/* ------------------------------------------------------------------ */
static LLVMValueRef shared_in_16(Cg *g)
{
	LLVMValueRef at = LLVMBuildPtrToInt(g->b, g->m->smem, g->m->i32, "");
	at = LLVMBuildAnd(g->b, at, cg_int32(g, 0x3ffff), "");
	return LLVMBuildLShr(g->b, at, cg_int32(g, 4), "");
}

void cg_kernel(CgMod *m, const Kernel *k)
{
	Cg g = {.m = m, .k = k, .arena = m->arena, .b = LLVMCreateBuilderInContext(m->lc)};
	Params params;
	m->b = g.b;
	params_collect(k, &params);
	function_new(&g, &params);
	g.entry = cg_new_block(&g, "entry");
	LLVMPositionBuilderAtEnd(g.b, g.entry);
	debug_function(&g);
	bind_hardware(&g);
	g.smem16 = shared_in_16(&g);
	LLVMBasicBlockRef body = cg_new_block(&g, "body");
	LLVMPositionBuilderAtEnd(g.b, body);
	cg_block(&g, &k->body);
	LLVMBuildRetVoid(g.b);
	LLVMPositionBuilderAtEnd(g.b, g.entry);
	LLVMBuildBr(g.b, body);
	LLVMDisposeBuilder(g.b);
	m->b = NULL;
}
