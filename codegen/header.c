/* header.c - C that a host program compiles: a typed launcher per kernel, and the cubin as array.
 * A launcher can describe its kernel (kdesc.h), so NAME_can_run needs no device, and it passes
 * arguments in the order in which dsl_launch finds them fastest.
 *   kernel gemm(A : bf16 (M,K):(K,1), ...)  ->  gemm_args {dsl_addr A; ... int64_t M; ...},
 *   gemm_can_run(&args, why, len), gemm_launch(mod, &args, stream, opts)
 * The text is C99 and C++11, and every symbol in it starts with the kernel's name. */
#include "codegen/artifact.h"

#include <ctype.h>
#include <string.h>

static void write_text(Buf *b, const char *s)
{
	buf_printf(b, "\"");
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\' || c == '?')
			buf_printf(b, "\\%c", c);
		else if (isprint(c))
			buf_printf(b, "%c", c);
		else
			buf_printf(b, "\\%03o", c);
	}
	buf_printf(b, "\"");
}

/* One line of NAME_describe: k->FIELD = value; */
static void set_text(Buf *b, const char *value, const char *field, ...) PRINTF(3, 4);
static void set_word(Buf *b, const char *value, const char *field, ...) PRINTF(3, 4);
static void set_int(Buf *b, int64_t value, const char *field, ...) PRINTF(3, 4);

static void set_text(Buf *b, const char *value, const char *field, ...)
{
	va_list ap;
	va_start(ap, field);
	buf_printf(b, "\tk->");
	buf_vprintf(b, field, ap);
	va_end(ap);
	buf_printf(b, " = ");
	write_text(b, value ? value : "");
	buf_printf(b, ";\n");
}

static void set_word(Buf *b, const char *value, const char *field, ...)
{
	va_list ap;
	va_start(ap, field);
	buf_printf(b, "\tk->");
	buf_vprintf(b, field, ap);
	va_end(ap);
	buf_printf(b, " = %s;\n", value);
}

static void set_int(Buf *b, int64_t value, const char *field, ...)
{
	va_list ap;
	va_start(ap, field);
	buf_printf(b, "\tk->");
	buf_vprintf(b, field, ap);
	va_end(ap);
	buf_printf(b, " = %lld;\n", (long long)value);
}

static const char *const elem_ids[KE_COUNT] = {
#define X(id, name, bits) [KE_##id] = "KE_" #id,
	KD_ELEMS(X)
#undef X
};

static void describe_arg(Buf *b, const KArg *a, int i)
{
	static const char *const dirs[] = {"KD_IN", "KD_OUT", "KD_INOUT"};
	set_text(b, a->name, "args[%d].name", i);
	set_word(b, a->kind == KA_TENSOR ? "KA_TENSOR" : "KA_SCALAR", "args[%d].kind", i);
	set_word(b, elem_ids[a->elem], "args[%d].elem", i);
	set_word(b, dirs[a->dir], "args[%d].dir", i);
	set_int(b, a->rank, "args[%d].rank", i);
	for (int r = 0; r < a->rank; r++) {
		set_text(b, a->shape[r], "args[%d].shape[%d]", i, r);
		set_text(b, a->stride[r], "args[%d].stride[%d]", i, r);
	}
	set_int(b, a->align, "args[%d].align", i);
}

static void describe_fact(Buf *b, const KFact *f, int i)
{
	set_text(b, f->cond, "facts[%d].cond", i);
	set_text(b, f->text, "facts[%d].text", i);
	set_text(b, f->field, "facts[%d].field", i);
	set_text(b, f->rule, "facts[%d].rule", i);
}

static void describe_param(Buf *b, const KParam *p, int i)
{
	static const char *const kinds[] = {"KP_TMAP", "KP_PTR", "KP_SYM", "KP_SCALAR", "KP_MADE"};
	set_word(b, kinds[p->kind], "params[%d].kind", i);
	set_int(b, p->index, "params[%d].index", i);
}

static void describe_map(Buf *b, const KMap *m, int i)
{
	set_int(b, m->arg, "maps[%d].arg", i);
	set_word(b, elem_ids[m->elem], "maps[%d].elem", i);
	set_int(b, m->rank, "maps[%d].rank", i);
	for (int r = 0; r < m->rank; r++) {
		set_text(b, m->dims[r], "maps[%d].dims[%d]", i, r);
		set_int(b, m->box[r], "maps[%d].box[%d]", i, r);
	}
	for (int r = 0; r < m->rank - 1; r++)
		set_text(b, m->strides[r], "maps[%d].strides[%d]", i, r);
	set_int(b, m->swizzle, "maps[%d].swizzle", i);
	set_int(b, m->store != 0, "maps[%d].store", i);
	set_int(b, m->optional != 0, "maps[%d].optional", i);
}

static void describe_launch(Buf *b, const KDesc *k)
{
	for (int i = 0; i < 3; i++) {
		set_text(b, k->grid[i], "grid[%d]", i);
		set_int(b, k->cluster[i], "cluster[%d]", i);
	}
	set_int(b, k->block, "block");
	set_int(b, k->smem, "smem");
	set_int(b, k->regs, "regs");
	set_int(b, k->entry_regs, "entry_regs");
	set_text(b, k->schedule, "schedule");
}

static void write_describe(Buf *b, const KDesc *k)
{
	buf_printf(b, "static inline void %s_describe(KDesc *k)\n{\n\tmemset(k, 0, sizeof *k);\n",
		   k->name);
	set_text(b, k->name, "name");
	set_text(b, k->symbol, "symbol");
	set_int(b, k->nargs, "nargs");
	set_int(b, k->nsyms, "nsyms");
	set_int(b, k->nfacts, "nfacts");
	set_int(b, k->nparams, "nparams");
	set_int(b, k->nmaps, "nmaps");
	for (int i = 0; i < k->nargs; i++)
		describe_arg(b, &k->args[i], i);
	for (int i = 0; i < k->nsyms; i++)
		set_text(b, k->syms[i], "syms[%d]", i);
	for (int i = 0; i < k->nfacts; i++)
		describe_fact(b, &k->facts[i], i);
	for (int i = 0; i < k->nparams; i++)
		describe_param(b, &k->params[i], i);
	for (int i = 0; i < k->nmaps; i++)
		describe_map(b, &k->maps[i], i);
	describe_launch(b, k);
	buf_printf(b, "}\n\n");
}

/* Words that a kernel may use for an argument and C or C++ may not for a member. */
static const char keywords[] =
	" alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
	"char32_t"
	" class compl const const_cast constexpr continue decltype default delete do double "
	"dynamic_cast"
	" else enum explicit export extern false float for friend goto if inline int long mutable"
	" namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
	"register"
	" reinterpret_cast restrict return short signed sizeof static static_assert static_cast "
	"struct"
	" switch template this thread_local throw true try typedef typeid typename union unsigned "
	"using"
	" virtual void volatile wchar_t while xor xor_eq ";

static const char *member_tail(const char *name)
{
	size_t n = strlen(name);
	for (const char *s = keywords; (s = strstr(s, name)); s += n)
		if (s[-1] == ' ' && s[n] == ' ')
			return "_";
	return "";
}

static bool elem_is_float(KElem e)
{
	return e == KE_F16 || e == KE_BF16 || e == KE_TF32 || e == KE_F32 || e == KE_F64 ||
	       e == KE_E4M3 || e == KE_E5M2;
}

static const char *member_type(const KArg *a)
{
	if (a->kind == KA_TENSOR)
		return "dsl_addr";
	if (!elem_is_float(a->elem))
		return "int64_t";
	return a->elem == KE_F64 ? "double" : "float";
}

static void write_struct(Buf *b, const KDesc *k)
{
	buf_printf(b, "typedef struct %s_args {\n", k->name);
	for (int i = 0; i < k->nargs; i++) {
		const KArg *a = &k->args[i];
		buf_printf(b, "\t%s %s%s; /* ", member_type(a), a->name, member_tail(a->name));
		static const char *const dirs[] = {"", "out ", "inout "};
		buf_printf(b, "%s%s", dirs[a->dir], strchr(elem_ids[a->elem], '_') + 1);
		for (int r = 0; r < a->rank; r++)
			buf_printf(b, "%s%s", r ? ", " : " (", a->shape[r]);
		buf_printf(b, "%s */\n", a->rank ? ")" : "");
	}
	for (int i = 0; i < k->nsyms; i++)
		buf_printf(b, "\tint64_t %s%s;\n", k->syms[i], member_tail(k->syms[i]));
	buf_printf(b, "} %s_args;\n\n", k->name);
}

static void write_bind(Buf *b, const KDesc *k)
{
	buf_printf(b, "static inline void %s_bind(const %s_args *a, dsl_arg *v)\n{\n", k->name,
		   k->name);
	int n = 0;
	for (int i = 0; i < k->nargs; i++, n++) {
		const KArg *a = &k->args[i];
		const char *kind = a->kind == KA_TENSOR     ? "ptr"
				   : elem_is_float(a->elem) ? "float"
							    : "int";
		buf_printf(b, "\tv[%d] = dsl_arg_%s(\"%s\", a->%s%s);\n", n, kind, a->name, a->name,
			   member_tail(a->name));
	}
	for (int i = 0; i < k->nsyms; i++, n++)
		buf_printf(b, "\tv[%d] = dsl_arg_int(\"%s\", a->%s%s);\n", n, k->syms[i],
			   k->syms[i], member_tail(k->syms[i]));
	if (n == 0)
		buf_printf(b, "\t(void)a;\n\t(void)v;\n");
	buf_printf(b, "}\n\n");
}

static void write_calls(Buf *b, const KDesc *k)
{
	const char *name = k->name;
	int n = k->nargs + k->nsyms, room = n ? n : 1;
	buf_printf(
		b,
		"/* Checks sizes, facts and addresses without a device; why gets the sentence. */\n"
		"static inline int %s_can_run(const %s_args *a, char *why, size_t len)\n"
		"{\n\tKDesc k;\n\tdsl_arg v[%d];\n\t%s_describe(&k);\n\t%s_bind(a, v);\n"
		"\treturn dsl_desc_can_run(&k, v, %d, why, len) == DSL_OK;\n}\n\n",
		name, name, room, name, name, n);
	buf_printf(b,
		   "static inline dsl_status %s_launch(dsl_module *mod, const %s_args *a, "
		   "dsl_stream stream,\n"
		   "\t\t\t\t\tconst dsl_launch_opts *opts)\n"
		   "{\n\tdsl_arg v[%d];\n\t%s_bind(a, v);\n"
		   "\treturn dsl_launch(mod, \"%s\", v, %d, stream, opts);\n}\n\n",
		   name, name, room, name, name, n);
}

void header_write(const KModuleDesc *m, const char *guard, Buf *out)
{
	buf_printf(out, "/* Typed launchers of %s, built by %s for %s. */\n", m->source, m->tool,
		   m->target);
	buf_printf(out, "#ifndef %s\n#define %s\n\n", guard, guard);
	buf_printf(out, "#include <dsl.h>\n#include <kdesc.h>\n#include <string.h>\n\n");
	for (int i = 0; i < m->nkernels; i++) {
		write_struct(out, &m->kernels[i]);
		write_describe(out, &m->kernels[i]);
		write_bind(out, &m->kernels[i]);
		write_calls(out, &m->kernels[i]);
	}
	buf_printf(out, "#endif\n");
}

void c_write(const void *cubin, size_t size, const char *name, Buf *out)
{
	const unsigned char *at = cubin;
	buf_printf(out,
		   "#include <stddef.h>\n\n"
		   "extern const unsigned char %s_cubin[%zu];\nextern const size_t %s_cubin_size;\n"
		   "const unsigned char %s_cubin[%zu] = {",
		   name, size, name, name, size);
	for (size_t i = 0; i < size; i++)
		buf_printf(out, "%s%u,", i % 20 ? "" : "\n\t", at[i]);
	buf_printf(out, "\n};\nconst size_t %s_cubin_size = %zu;\n", name, size);
}
