/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* export.c - the same for other programs: CSV, a line an entry and regime; JSON, all samples too.
 * Keys are added in later versions, never changed; a change of meaning changes "schema". A ratio
 * that the noise could explain is an empty field or null.
 *     gemm,M=4096 N=4096 K=4096,ping128,-DbN=128,steady,30,1,200.310,...,cublaslt,1.04900,0.2000 */
#include "codegen/json.h"
#include "driver/bench/bench.h"

#include <string.h>

/* ------------------------------------------------------------------ CSV */
static void put_text(const char *s, Buf *out)
{
	if (!strpbrk(s, ",\"\n")) {
		buf_printf(out, "%s,", s);
		return;
	}
	buf_printf(out, "\"");
	for (; *s; s++)
		buf_printf(out, *s == '"' ? "\"\"" : "%c", *s);
	buf_printf(out, "\",");
}

static void put_known(double v, int digits, Buf *out)
{
	if (v > 0)
		buf_printf(out, "%.*f", digits, v);
	buf_printf(out, ",");
}

static void csv_row(const Bench *b, int entry, Regime r, Buf *out)
{
	const BenchEntry *e = &b->entries.at[entry];
	BenchFigures f = bench_figures(b, entry, r);
	put_text(b->kernel, out);
	put_text(b->sizes, out);
	put_text(entry == b->control ? "control" : e->name, out);
	put_text(e->what, out);
	buf_printf(out, "%s,%d,", regime_names[r], b->rounds[r]);
	put_known(entry == b->control ? 0 : f.rank, 0, out);
	put_known(f.us, 3, out);
	buf_printf(out, "%.4f,", 100 * f.spread);
	put_known(f.tflops, 2, out);
	put_known(f.gbps, 1, out);
	put_known(f.mhz, 0, out);
	put_known(f.watts, 1, out);
	put_text(b->entries.at[b->base].name, out);
	if (entry == b->base || f.differs)
		buf_printf(out, "%.5f", f.to_base.ratio);
	buf_printf(out, ",%.4f\n", 100 * f.to_base.noise);
}

void bench_csv(const Bench *b, Buf *out)
{
	buf_printf(out, "kernel,sizes,candidate,what,regime,rounds,rank,median_us,spread_percent,"
			"tflops,gbps,mhz,watts,base,ratio,noise_percent\n");
	for (int i = 0; i < b->entries.n; i++)
		for (int r = 0; r < REGIMES; r++)
			csv_row(b, i, (Regime)r, out);
}

/* ------------------------------------------------------------------ JSON */
static void put_real(json_object *o, const char *key, double v)
{
	if (v > 0)
		json_put_real(o, key, v);
	else
		json_put_text(o, key, NULL);
}

static void put_samples(const Bench *b, json_object *o, const BenchEntry *e, Regime r)
{
	json_object *a = json_put_array(o, "samples");
	for (int i = 0; i < b->rounds[r]; i++) {
		json_object *s = json_add_object(a);
		put_real(s, "us", e->at[r][i].us);
		put_real(s, "mhz", e->at[r][i].mhz);
		put_real(s, "watts", e->at[r][i].watts);
	}
}

static void put_regime(const Bench *b, json_object *entry, int i, Regime r)
{
	json_object *o = json_put_object(entry, regime_names[r]);
	BenchFigures f = bench_figures(b, i, r);
	if (i != b->control)
		json_put_int(o, "rank", f.rank);
	put_real(o, "median_us", f.us);
	json_put_real(o, "spread", f.spread);
	put_real(o, "tflops", f.tflops);
	put_real(o, "gbps", f.gbps);
	put_real(o, "mhz", f.mhz);
	put_real(o, "watts", f.watts);
	if (i == b->base || f.differs)
		json_put_real(o, "ratio", f.to_base.ratio);
	else
		json_put_text(o, "ratio", NULL);
	json_put_real(o, "noise", f.to_base.noise);
	put_samples(b, o, &b->entries.at[i], r);
}

static void put_entry(const Bench *b, json_object *a, int i)
{
	json_object *o = json_add_object(a);
	json_put_text(o, "name", b->entries.at[i].name);
	json_put_text(o, "what", b->entries.at[i].what);
	json_put_bool(o, "ours", b->entries.at[i].ours);
	json_put_bool(o, "control", i == b->control);
	if (b->entries.at[i].line)
		json_put_int(o, "line", b->entries.at[i].line);
	for (int r = 0; r < REGIMES; r++)
		put_regime(b, o, i, (Regime)r);
}

void bench_json(const Bench *b, Buf *out)
{
	json_object *o = json_new();
	json_put_text(o, "schema", "dslc-bench/1");
	json_put_text(o, "kernel", b->kernel);
	json_put_text(o, "file", b->file);
	json_put_text(o, "sizes", b->sizes);
	json_put_text(o, "device", b->device);
	put_real(o, "flops", b->flops);
	put_real(o, "bytes", b->bytes);
	json_put_int(o, "seed", (int64_t)b->seed);
	json_object *notes = json_put_array(o, "notes");
	for (int i = 0; i < b->nnotes; i++)
		json_add_text(notes, b->notes[i]);
	json_put_text(o, "base", b->entries.at[b->base].name);
	json_object *entries = json_put_array(o, "entries");
	for (int i = 0; i < b->entries.n; i++)
		put_entry(b, entries, i);
	json_end(o, out);
}
