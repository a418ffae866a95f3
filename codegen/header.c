/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* header.c - C that a host program compiles: a typed launcher for each name that callers use,
 * and the cubin as array. A launcher holds the manifest of its kernel or family, so NAME_can_run
 * needs no device, and it passes arguments in the order in which dsl_launch finds them fastest.
 *   kernel gemm(A : bf16 (M,K):(K,1), ...)  ->  gemm_args {dsl_addr A; ... int64_t M; ...},
 *   gemm_can_run(&args, why, len), gemm_workspace_size(mod, &args, &bytes),
 *   gemm_launch(mod, &args, stream, opts)
 * The text is C99 and C++11, and every symbol in it starts with the kernel's name. */
#include "codegen/artifact.h"

#include <string.h>

/* Bytes as C integers, a row each 20. */
static void write_bytes(Buf *b, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < size; i++)
		buf_printf(b, "%s%u,", i % 20 ? "" : "\n\t", at[i]);
	buf_printf(b, "\n};\n");
}

/* What NAME_can_run checks against: a manifest of these kernels alone, the variants of one name. As
 * numbers, because C99 has compilers take strings of 4095 characters and no more. */
static void write_manifest(Buf *b, const KModuleDesc *m, KDesc *k, int variants)
{
	Buf json = {0};
	KModuleDesc one = *m;
	one.nkernels = variants;
	one.kernels = k;
	manifest_write(&one, &json);
	buf_printf(b, "static const unsigned char %s_manifest[%zu] = {", k->name, json.n);
	write_bytes(b, json.s, json.n);
	buf_printf(b, "\n");
	buf_free(&json);
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

static const char *member_type(const KArg *a)
{
	if (a->kind == KA_TENSOR)
		return "dsl_addr";
	if (!elem_is_float(a->elem))
		return "int64_t";
	return elem_is_wide(a->elem) ? "double" : "float";
}

static void write_struct(Buf *b, const KDesc *k)
{
	buf_printf(b, "typedef struct %s_args {\n", k->name);
	EACH_OF(const KArg, a, k->args, k->nargs) {
		buf_printf(b, "\t%s %s%s; /* ", member_type(a), a->name, member_tail(a->name));
		static const char *const dirs[] = {"", "out ", "inout "};
		buf_printf(b, "%s%s", dirs[a->dir], elem_rows[a->elem].name);
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
		"{\n\tdsl_arg v[%d];\n\t%s_bind(a, v);\n"
		"\treturn dsl_manifest_can_run(%s_manifest, sizeof %s_manifest, \"%s\", v, %d,\n"
		"\t\t\t\t    why, len) == DSL_OK;\n}\n\n",
		name, name, room, name, name, name, name, n);
	buf_printf(b,
		   "/* Bytes of workspace that the launch needs, for opts. */\n"
		   "static inline dsl_status %s_workspace_size(dsl_module *mod, const %s_args *a, "
		   "size_t *bytes)\n"
		   "{\n\tdsl_arg v[%d];\n\t%s_bind(a, v);\n"
		   "\treturn dsl_workspace_size(mod, \"%s\", v, %d, bytes);\n}\n\n",
		   name, name, room, name, name, n);
	buf_printf(b,
		   "static inline dsl_status %s_launch(dsl_module *mod, const %s_args *a, "
		   "dsl_stream stream,\n"
		   "\t\t\t\t\tconst dsl_launch_opts *opts)\n"
		   "{\n\tdsl_arg v[%d];\n\t%s_bind(a, v);\n"
		   "\treturn dsl_launch(mod, \"%s\", v, %d, stream, opts);\n}\n\n",
		   name, name, room, name, name, n);
}

void header_write(const KModuleDesc *m, const char *name, const char *guard, Buf *out)
{
	buf_printf(out, "/* Typed launchers of %s, built by %s for %s. */\n", m->source, m->tool,
		   m->target);
	buf_printf(out, "#ifndef %s\n#define %s\n\n", guard, guard);
	buf_printf(out, "#include <dsl.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
	buf_printf(
		out,
		"/* of the file that --emit=c writes */\nextern const unsigned char %s_cubin[];\n"
		"extern const size_t %s_cubin_size;\n",
		name, name);
	buf_printf(out, "#ifdef __cplusplus\n}\n#endif\n\n");
	for (int i = 0; i < m->nkernels; i += kdesc_variants(m, i)) {
		write_struct(out, &m->kernels[i]);
		write_manifest(out, m, &m->kernels[i], kdesc_variants(m, i));
		write_bind(out, &m->kernels[i]);
		write_calls(out, &m->kernels[i]);
	}
	buf_printf(out, "#endif\n");
}

void c_write(const void *cubin, size_t size, const char *name, Buf *out)
{
	buf_printf(out,
		   "#include <stddef.h>\n\n"
		   "extern const unsigned char %s_cubin[%zu];\nextern const size_t %s_cubin_size;\n"
		   "const unsigned char %s_cubin[%zu] = {",
		   name, size, name, name, size);
	write_bytes(out, cubin, size);
	buf_printf(out, "const size_t %s_cubin_size = %zu;\n", name, size);
}
