/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sample.c - see sample.h. */
#include "sample.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

static KArg matrix(const char *name, KDir dir, const char *rows, const char *cols)
{
	return (KArg){name, KA_TENSOR, EL_BF16, dir, 2, {rows, cols}, {cols, "1"}, 0, 0, 0};
}

static void fill_gemm(KDesc *k)
{
	static const char *const tma = "TMA coordinates are 32-bit";
	*k = (KDesc){
		.name = "gemm",
		.symbol = "gemm",
		.nargs = 3,
		.nsyms = 3,
		.nfacts = 2,
		.nparams = 6,
		.nmaps = 3,
		.nsmem = 1,
		.nconsts = 2,
		.args = {matrix("A", KD_IN, "M", "K"), matrix("B", KD_IN, "N", "K"),
			 matrix("D", KD_OUT, "M", "N")},
		.syms = {"M", "N", "K"},
		.facts = {{"M 2147483648 <", "M < 2147483648", "M", tma},
			  {"N 2147483648 <", "N < 2147483648", "N", tma}},
		.params = {{KP_TMAP, 0},
			   {KP_TMAP, 1},
			   {KP_TMAP, 2},
			   {KP_SYM, 0},
			   {KP_SYM, 1},
			   {KP_SYM, 2}},
		.maps = {{0, EL_BF16, 2, {"K", "M"}, {"K 2 *"}, {64, 128}, 128, 0, 0, 0},
			 {1, EL_BF16, 2, {"K", "N"}, {"K 2 *"}, {64, 256}, 128, 0, 0, 0},
			 {2, EL_BF16, 2, {"N", "M"}, {"N 2 *"}, {32, 64}, 64, 1, 0, 0}},
		.grid = {"M 127 + 128 / N 255 + 256 / *", "1", "1"},
		.cluster = {1, 1, 1},
		.block = 384,
		.smem = 200000,
		.ctas = 1,
		.regs = 168,
		.entry_regs = 168,
		.schedule = "cooperative",
		.smem_map = {{"sA", 0, 16384, 4}},
		.consts = {{"bM", NULL, 128}, {"R", "cooperative", 0}},
	};
}

static void fill_scale(KDesc *k)
{
	*k = (KDesc){
		.name = "scale",
		.symbol = "scale_kernel",
		.nargs = 4,
		.nsyms = 1,
		.nfacts = 1,
		.nparams = 5,
		.args = {{"x", KA_TENSOR, EL_F32, KD_INOUT, 1, {"N"}, {"1"}, 0, 0, 0},
			 {"alpha", KA_SCALAR, EL_F32, KD_IN, 0, {0}, {0}, 0, 0, 0},
			 {"beta", KA_SCALAR, EL_BF16, KD_IN, 0, {0}, {0}, 0, 0, 0},
			 {"n", KA_SCALAR, EL_I32, KD_IN, 0, {0}, {0}, 0, 0, 0}},
		.syms = {"N"},
		.facts = {{"N 8 % 0 ==", "N % 8 == 0", "N", "where clause"}},
		.params =
			{{KP_PTR, 0}, {KP_SCALAR, 1}, {KP_SCALAR, 2}, {KP_SCALAR, 3}, {KP_SYM, 0}},
		.grid = {"$sms 2 / 2 *", "1", "1"},
		.cluster = {2, 1, 1},
		.ctas = 1,
		.block = 128,
		.pdl = 1,
		.schedule = "none",
	};
}

void sample_fill(Sample *s)
{
	memset(s, 0, sizeof *s);
	fill_gemm(&s->kernel[0]);
	fill_scale(&s->kernel[1]);
	s->module = (KModuleDesc){
		.abi = KDESC_ABI,
		.tool = "dslc 0.2.0",
		.llvm = "22.1.8",
		.ptxas = "13.0.88",
		.source = "dir/gemm.gemm",
		.source_hash = "00ff",
		.target = "sm_90a",
		.min_driver = 13000,
		.nkernels = 2,
		.kernels = s->kernel,
	};
}

void sample_two_ways(Sample *s)
{
	KDesc *k = &s->kernel[0];
	k->args[GEMM_D].align = 4;
	k->maps[2].optional = 1;
	k->params[k->nparams++] = (KParam){KP_MADE, 2};
}

void sample_copies(Sample *s)
{
	s->kernel[0].maps[0].copy = s->kernel[0].maps[1].copy = 1;
	s->kernel[0].pdl = 1;
}

void sample_again(Sample *s, const char *name)
{
	KDesc *k = &s->kernel[2];
	*k = s->kernel[0];
	k->name = k->symbol = name;
	s->module.nkernels = 3;
}

static const char *const symbols[] = {"gemm__1", "gemm__2", "gemm__3", "gemm__4"};

/* Tiles of 128 x 256, 64 x 128, 32 x 64, 16 x 32. */
static void variant_fill(KDesc *k, int i)
{
	static const char *const grids[] = {"M 127 + 128 / N 255 + 256 / *",
					    "M 63 + 64 / N 127 + 128 / *",
					    "M 31 + 32 / N 63 + 64 / *",
					    "M 15 + 16 / N 31 + 32 / *"};
	k->symbol = symbols[i];
	k->name = i ? symbols[i] : "gemm";
	k->grid[0] = grids[i];
	k->block -= 32 * i;
	k->cost = (KCost){.family = "gemm",
			  .product = {16, 16, 16, 16, 0},
			  .variant = {.tile_m = 128 >> i,
				      .tile_n = 256 >> i,
				      .tile_k = 64,
				      .warpgroups = i ? 1 : 2,
				      .stages = 4,
				      .roles = COST_COOPERATIVE,
				      .cluster_m = 1,
				      .cluster_n = 1,
				      .split = 1,
				      .ctas = 1},
			  .m = "M",
			  .n = "N",
			  .k = "K",
			  .batch = "1",
			  .pitch_a = "K 2 *",
			  .pitch_b = "K 2 *"};
}

void sample_family(Sample *s, KDesc *kernels, int n)
{
	for (int i = 0; i < n; i++) {
		kernels[i] = s->kernel[0];
		variant_fill(&kernels[i], i);
	}
	s->module.kernels = kernels;
	s->module.nkernels = n;
}

void sample_constant(Sample *s)
{
	s->kernel[0].args[GEMM_B].constant = 1;
}

void sample_elf(int machine, Buf *out)
{
	static const char names[] = "\0.shstrtab\0.text.gemm";
	static const char text[24] = "code";
	Elf64_Shdr sections[3] = {
		{0},
		{.sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = sizeof names},
		{.sh_name = 11, .sh_type = SHT_PROGBITS, .sh_size = sizeof text},
	};
	Elf64_Ehdr head = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_machine = (Elf64_Half)machine,
		.e_ehsize = sizeof head,
		.e_shentsize = sizeof *sections,
		.e_shnum = 3,
		.e_shstrndx = 1,
	};
	sections[1].sh_offset = sizeof head;
	sections[2].sh_offset = sizeof head + sizeof names;
	head.e_shoff = sizeof head + sizeof names + sizeof text;
	buf_add(out, (const char *)&head, sizeof head);
	buf_add(out, names, sizeof names);
	buf_add(out, text, sizeof text);
	buf_add(out, (const char *)sections, sizeof sections);
}

/* The manifest, with one text replaced. */
static Buf manifest_with(const KModuleDesc *m, const char *old, const char *new)
{
	Buf json = {0}, changed = {0};
	manifest_write(m, &json);
	const char *at = strstr(json.s, old);
	if (!at)
		fail_msg("the manifest has no %s", old);
	buf_printf(&changed, "%.*s%s%s", (int)(at - json.s), json.s, new, at + strlen(old));
	buf_free(&json);
	return changed;
}

dsl_status sample_parse_with(const KModuleDesc *m, const char *old, const char *new)
{
	Buf json = manifest_with(m, old, new);
	KModuleDesc *d = NULL;
	dsl_status st = dsl_desc_parse(json.s, json.n, &d);
	if (!st)
		dsl_desc_free(d);
	buf_free(&json);
	return st;
}

void sample_cubin_with(const KModuleDesc *m, const char *old, const char *new, Buf *out)
{
	Buf elf = {0}, json = manifest_with(m, old, new);
	sample_elf(190, &elf);
	assert_null(cubin_append(elf.s, elf.n, json.s, ".version 8.7\n", out));
	buf_free(&elf);
	buf_free(&json);
}

void sample_cubin_write(const KModuleDesc *m, Buf *out)
{
	sample_cubin_with(m, "", "", out);
}

void sample_args(dsl_arg args[GEMM_ARGS], int64_t m, int64_t n, int64_t k)
{
	args[GEMM_A] = dsl_arg_ptr("A", 0x10000);
	args[GEMM_B] = dsl_arg_ptr("B", 0x20000);
	args[GEMM_D] = dsl_arg_ptr("D", 0x30000000);
	args[GEMM_M] = dsl_arg_int("M", m);
	args[GEMM_N] = dsl_arg_int("N", n);
	args[GEMM_K] = dsl_arg_int("K", k);
}

void assert_says(const char *text, ...)
{
	va_list ap;
	va_start(ap, text);
	for (const char *word; (word = va_arg(ap, const char *));)
		if (!strstr(text, word))
			fail_msg("\"%s\" does not say \"%s\"", text, word);
	va_end(ap);
}

Fake *fake_reset(void)
{
	setenv("DSL_LIBCUDA", FAKE_CUDA, 1);
	void *lib = dlopen(FAKE_CUDA, RTLD_NOW);
	assert_non_null(lib);
	void *symbol = dlsym(lib, "fake_state");
	FakeState get;
	memcpy(&get, &symbol, sizeof get);
	Fake *f = get();
	*f = (Fake){
		.devices = 1,
		.driver = 13000,
		.major = 9,
		.sms = 132,
		.smem = 232448,
		.smem_set = -1,
		.cluster_set = -1,
	};
	return f;
}

dsl_device *device_open(void)
{
	dsl_device *dev = NULL;
	assert_status(dsl_device_open("cuda:0", &dev), DSL_OK);
	return dev;
}

dsl_module *module_open(dsl_device *dev, const KModuleDesc *m)
{
	Buf cubin = {0};
	dsl_module *mod = NULL;
	sample_cubin_write(m, &cubin);
	assert_status(dsl_module_load_data(dev, cubin.s, cubin.n, &mod), DSL_OK);
	buf_free(&cubin);
	return mod;
}
