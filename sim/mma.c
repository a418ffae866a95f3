/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mma.c - matrices of one warp: ldmatrix, stmatrix, movmatrix, mma.sync, wmma (PTX ISA: Warp Level
 * Matrix Multiply-Accumulate Instructions). Fragments of wmma have an order of their own, as the
 * ISA leaves it open; those of mma.sync follow the ISA: with g = lane / 4, t = lane % 4 and E
 * elements in a register, register r of A holds row g + 8 (r % 2), column E t + 4 E (r / 2) and on.
 */
#include "sim/lanes.h"
#include "sim/matrix.h"
#include "sim/number.h"

void prepare_ldmatrix(Pool *a, Ins *in)
{
	u32 n = has(in, M_X4) ? 4 : has(in, M_X2) ? 2 : 1;
	const Arg *v = in->args[0].kind == A_VEC ? &in->args[0] : &in->args[1];
	if (v->n != n)
		refuse(a, in, "the number of registers is not that of the opcode");
	for (u32 i = 0; i < n; i++)
		if (v->list[i].width != 4)
			refuse(a, in, "registers of 32 bits are needed");
	in->extra = n;
}

/* The 8 rows of matrix i, 16 bytes each; lane 8 i + r has the address of row r. stored: what will
 * be written there; NULL: a read. */
static bool rows_of(Warp *w, const Ins *in, const Arg *addr, u32 i, u8 (*stored)[16], u8 *rows[8])
{
	for (u32 r = 0; r < 8; r++) {
		Place p;
		u32 lane = i * 8 + r;
		Space space = mem_space(in);
		if (!place_at(w, in, lane, space, mem_address(w, addr, lane), 16, 16, &p))
			return false;
		if (!p.cta) {
			report(w, in, (s32)lane, SIM_OPERAND, "the row is not in shared memory");
			return false;
		}
		if (w->cluster->job->opt->checks)
			shadow_touch(p.cta, p.offset, 16,
				     &(Access){.w = w,
					       .in = in,
					       .lane = lane,
					       .write = stored,
					       .stored = stored ? stored[r] : NULL});
		rows[r] = p.host;
	}
	return true;
}

Run run_ldmatrix(Warp *w, const Ins *in, u32 mask)
{
	bool trans = has(in, M_TRANS);
	u32 out[4][LANES];
	(void)mask;
	for (u32 i = 0; i < in->extra; i++) {
		u8 *rows[8];
		if (!rows_of(w, in, &in->args[1], i, NULL, rows))
			return RUN_FAIL;
		for (u32 l = 0; l < LANES; l++) {
			u16 pair[2];
			for (u32 e = 0; e < 2; e++) {
				u32 r = trans ? l % 4 * 2 + e : l / 4,
				    c = trans ? l / 4 : l % 4 * 2 + e;
				memcpy(&pair[e], rows[r] + c * 2, 2);
			}
			out[i][l] = (u32)pair[1] << 16 | pair[0];
		}
	}
	for (u32 i = 0; i < in->extra; i++)
		memcpy(r32(w, in->args[0].list[i].slot), out[i], sizeof out[i]);
	return RUN_NEXT;
}

Run run_stmatrix(Warp *w, const Ins *in, u32 mask)
{
	bool trans = has(in, M_TRANS);
	(void)mask;
	w->cluster->progress = w->cluster->steps;
	for (u32 i = 0; i < in->extra; i++) {
		u8 *rows[8], matrix[8][16];
		const u32 *from = r32(w, in->args[1].list[i].slot);
		for (u32 l = 0; l < LANES; l++) {
			for (u32 e = 0; e < 2; e++) {
				u32 r = trans ? l % 4 * 2 + e : l / 4,
				    c = trans ? l / 4 : l % 4 * 2 + e;
				u16 v = (u16)(from[l] >> (16 * e));
				memcpy(matrix[r] + c * 2, &v, 2);
			}
		}
		if (!rows_of(w, in, &in->args[0], i, matrix, rows))
			return RUN_FAIL;
		for (u32 r = 0; r < 8; r++)
			memcpy(rows[r], matrix[r], sizeof matrix[r]);
	}
	return RUN_NEXT;
}

Run run_movmatrix(Warp *w, const Ins *in, u32 mask)
{
	const u32 *from = lanes(w, in, 1);
	u16 m[8][8];
	u32 *to = lanes(w, in, 0);
	(void)mask;
	for (u32 l = 0; l < LANES; l++)
		for (u32 e = 0; e < 2; e++)
			m[l / 4][l % 4 * 2 + e] = (u16)(from[l] >> (16 * e));
	for (u32 l = 0; l < LANES; l++)
		to[l] = (u32)m[l % 4 * 2 + 1][l / 4] << 16 | m[l % 4 * 2][l / 4];
	return RUN_NEXT;
}

/* Tiles of one warp: floats for all but f64 and integers, which use doubles (both exact). */
typedef struct {
	_Alignas(64) f32 a[32 * 32];
	_Alignas(64) f32 b[32 * 256];
	_Alignas(64) f32 c[32 * 256];
	f64 da[32 * 32], db[32 * 32], dc[32 * 32];
} Tiles;

static f64 element(Type t, Warp *w, const Arg *v, u32 r, u32 lane, u32 e)
{
	u32 size = type_bytes[t];
	const u8 *at = w->file + v->list[r].slot + lane * v->list[r].width + e * size;
	f32 x;
	if (t == T_F64) {
		f64 d;
		memcpy(&d, at, sizeof d);
		return d;
	}
	if (t == T_S32) {
		s32 s;
		memcpy(&s, at, sizeof s);
		return (f64)s;
	}
	elements_widen(t, at, 1, &x);
	return (f64)x;
}

static void element_put(const Ins *in, Type t, Warp *w, const Arg *v, u32 r, u32 lane, u32 e, f64 x)
{
	u32 size = type_bytes[t];
	u8 *at = w->file + v->list[r].slot + lane * v->list[r].width + e * size;
	if (t == T_F64) {
		memcpy(at, &x, sizeof x);
	} else if (t == T_S32) {
		u32 s = (u32)(has(in, M_SATFINITE) ? clamp32((s64)x) : (s64)x);
		memcpy(at, &s, sizeof s);
	} else if (t == T_F16) {
		u16 h = f16_from_f64(x);
		memcpy(at, &h, sizeof h);
	} else {
		f32 f = (f32)x;
		memcpy(at, &f, sizeof f);
	}
}

static bool wide_math(Type t)
{
	return t == T_F64 || t == T_S32;
}

/* c += a b for the tiles' shape, in the arithmetic of the result's type. */
static void tiles_product(Tiles *t, const u16 s[3], bool wide)
{
	u32 m = s[0], n = s[1], k = s[2];
	if (!wide) {
		matrix_product(t->c, t->a, t->b, m, n, k);
		return;
	}
	for (u32 i = 0; i < m; i++)
		for (u32 j = 0; j < n; j++)
			for (u32 x = 0; x < k; x++)
				t->dc[i * 32 + j] = fma(t->da[i * 32 + x], t->db[x * 32 + j],
							t->dc[i * 32 + j]);
}

/* An element of a matrix of either precision. */
static void put(bool wide, f64 *d, f32 *s, f64 x)
{
	if (wide)
		*d = x;
	else
		*s = (f32)x;
}

static void put_a(Tiles *t, bool wide, u32 row, u32 k, f64 x)
{
	put(wide, &t->da[row * 32 + k], &t->a[row * 32 + k], x);
}

static void put_b(Tiles *t, bool wide, u32 k, u32 col, f64 x)
{
	put(wide, &t->db[k * 32 + col], &t->b[k * 256 + col], x);
}

static void put_c(Tiles *t, bool wide, u32 row, u32 col, f64 x)
{
	put(wide, &t->dc[row * 32 + col], &t->c[row * 256 + col], x);
}

static f64 get_c(const Tiles *t, bool wide, u32 row, u32 col)
{
	return wide ? t->dc[row * 32 + col] : (f64)t->c[row * 256 + col];
}

static u32 per_register(Type t)
{
	return t == T_F64 ? 1 : 4 / type_bytes[t];
}

/* twice: the fragment may have room for each element twice. */
static void refuse_count(Pool *a, const Ins *in, const Arg *v, u32 elements, Type t, bool twice)
{
	u32 have = v->n * per_register(t) * LANES;
	if (have != elements && !(twice && have == elements * 2))
		refuse(a, in, "a fragment has another number of registers");
	for (u32 i = 0; i < v->n; i++)
		if (v->list[i].width != (t == T_F64 ? 8 : 4))
			refuse(a, in, "a register of a fragment has the wrong width");
}

void prepare_mma(Pool *a, Ins *in)
{
	u32 m = in->shape[0], n = in->shape[1], k = in->shape[2], size = type_bytes[in->type[1]];
	bool small = m == 8 && ((in->type[1] == T_F64 && k == 4) || (size == 1 && k == 16));
	if (n != 8 || (m != 16 && !small) || k > 32 ||
	    (in->type[0] == T_S32) != (in->type[3] == T_S32)) {
		lack(in, "this shape is not simulated");
		return;
	}
	refuse_count(a, in, &in->args[0], m * n, (Type)in->type[0], false);
	refuse_count(a, in, &in->args[1], m * k, (Type)in->type[1], false);
	refuse_count(a, in, &in->args[2], k * n, (Type)in->type[2], false);
	refuse_count(a, in, &in->args[3], m * n, (Type)in->type[3], false);
}

static void mma_load(Warp *w, const Ins *in, Tiles *t, bool wide)
{
	Type ta = (Type)in->type[1], tb = (Type)in->type[2];
	u32 ea = per_register(ta), eb = per_register(tb);
	bool tall = in->shape[0] == 16;
	for (u32 l = 0; l < LANES; l++) {
		u32 g = l / 4, q = l % 4;
		for (u32 r = 0; r < in->args[1].n; r++)
			for (u32 e = 0; e < ea; e++)
				put_a(t, wide, g + (tall && r & 1 ? 8 : 0),
				      q * ea + e + (tall ? r >> 1 : r) * 4 * ea,
				      element(ta, w, &in->args[1], r, l, e));
		for (u32 r = 0; r < in->args[2].n; r++)
			for (u32 e = 0; e < eb; e++)
				put_b(t, wide, q * eb + e + r * 4 * eb, g,
				      element(tb, w, &in->args[2], r, l, e));
	}
}

/* C and D: two neighbouring columns, rows g and g + 8. */
static void mma_acc(Warp *w, const Ins *in, Tiles *t, bool wide, bool load)
{
	const Arg *v = &in->args[load ? 3 : 0];
	Type type = (Type)in->type[load ? 3 : 0];
	u32 per = per_register(type);
	for (u32 l = 0; l < LANES; l++) {
		for (u32 i = 0; i < v->n * per; i++) {
			u32 row = l / 4 + i / 2 * 8, col = l % 4 * 2 + i % 2;
			if (load)
				put_c(t, wide, row, col, element(type, w, v, i / per, l, i % per));
			else
				element_put(in, type, w, v, i / per, l, i % per,
					    get_c(t, wide, row, col));
		}
	}
}

Run run_mma(Warp *w, const Ins *in, u32 mask)
{
	Tiles t;
	bool wide = wide_math((Type)in->type[0]);
	(void)mask;
	mma_load(w, in, &t, wide);
	mma_acc(w, in, &t, wide, true);
	tiles_product(&t, in->shape, wide);
	mma_acc(w, in, &t, wide, false);
	return RUN_NEXT;
}

/* wmma: element i of a tile of n is in register i / 32 / E, lane i % 32; fragments with more room
 * hold it twice. */
static void wmma_tile(const Ins *in, char which, u32 *rows, u32 *cols)
{
	*rows = which == 'b' ? in->shape[2] : in->shape[0];
	*cols = which == 'a' ? in->shape[2] : in->shape[1];
}

static bool wmma_shape(const Ins *in)
{
	u32 m = in->shape[0], n = in->shape[1], k = in->shape[2];
	return (m == 16 && n == 16 && (k == 16 || k == 8)) || (m == 32 && n == 8 && k == 16) ||
	       (m == 8 && n == 32 && k == 16) || (m == 8 && n == 8 && k == 4);
}

static void wmma_count(Pool *a, const Ins *in, const Arg *v, char which, Type t)
{
	u32 rows, cols;
	wmma_tile(in, which, &rows, &cols);
	refuse_count(a, in, v, rows * cols, t, true);
}

void prepare_wmma(Pool *a, Ins *in)
{
	char which = has(in, M_A) ? 'a' : has(in, M_B) ? 'b' : 'c';
	if (!wmma_shape(in)) {
		lack(in, "this shape is not simulated");
		return;
	}
	in->extra = (u32)which;
	wmma_count(a, in, in->args[0].kind == A_VEC ? &in->args[0] : &in->args[1], which,
		   (Type)in->type[0]);
}

/* Where element i of a fragment lies in the registers. */
static u8 *wmma_slot(Warp *w, const Ins *in, const Arg *v, u32 i)
{
	u32 size = type_bytes[in->type[0]], per = per_register((Type)in->type[0]);
	const Arg *reg = &v->list[i / LANES / per];
	return w->file + reg->slot + i % LANES * reg->width + i / LANES % per * size;
}

static bool wmma_element(Warp *w, const Ins *in, const Arg *addr, const Arg *ld, u32 i, bool write,
			 Place *p)
{
	u32 rows, cols, size = type_bytes[in->type[0]];
	wmma_tile(in, (char)in->extra, &rows, &cols);
	u32 r = i / cols, c = i % cols;
	u64 pitch = ld->kind ? arg_get(w, ld, 0) : has(in, M_ROW) ? cols : rows;
	u64 at = has(in, M_ROW) ? r * pitch + c : c * pitch + r;
	if (!place_at(w, in, 0, mem_space(in), mem_address(w, addr, 0) + at * size, size, size, p))
		return false;
	place_touch(p, size, (Access){.w = w, .in = in, .write = write});
	return true;
}

Run run_wmma_load(Warp *w, const Ins *in, u32 mask)
{
	const Arg *v = &in->args[0];
	u32 rows, cols, size = type_bytes[in->type[0]], per = per_register((Type)in->type[0]);
	Place p;
	(void)mask;
	wmma_tile(in, (char)in->extra, &rows, &cols);
	for (u32 i = 0; i < v->n * per * LANES; i++) {
		if (!wmma_element(w, in, &in->args[1], &in->args[2], i % (rows * cols), false, &p))
			return RUN_FAIL;
		memcpy(wmma_slot(w, in, v, i), p.host, size);
	}
	return RUN_NEXT;
}

Run run_wmma_store(Warp *w, const Ins *in, u32 mask)
{
	const Arg *v = &in->args[1];
	u32 rows, cols, size = type_bytes[in->type[0]];
	Place p;
	(void)mask;
	wmma_tile(in, 'c', &rows, &cols);
	w->cluster->progress = w->cluster->steps;
	for (u32 i = 0; i < rows * cols; i++) {
		if (!wmma_element(w, in, &in->args[0], &in->args[2], i, true, &p))
			return RUN_FAIL;
		memcpy(p.host, wmma_slot(w, in, v, i), size);
	}
	return RUN_NEXT;
}

/* Types of D, A, B, C: "f32.f32" alone means f16 operands. */
static void wmma_types(const Ins *in, Type t[4])
{
	bool halves = in->ntypes == 2;
	t[0] = (Type)in->type[0];
	t[1] = halves ? T_F16 : (Type)in->type[1];
	t[2] = halves ? T_F16 : (Type)in->type[2];
	t[3] = (Type)in->type[halves ? 1 : 3];
}

void prepare_wmma_mma(Pool *a, Ins *in)
{
	Type t[4];
	if (!wmma_shape(in)) {
		lack(in, "this shape is not simulated");
		return;
	}
	wmma_types(in, t);
	wmma_count(a, in, &in->args[0], 'c', t[0]);
	wmma_count(a, in, &in->args[1], 'a', t[1]);
	wmma_count(a, in, &in->args[2], 'b', t[2]);
	wmma_count(a, in, &in->args[3], 'c', t[3]);
}

static f64 wmma_get(Warp *w, const Arg *v, Type t, u32 i)
{
	u32 per = per_register(t), slot = i / LANES;
	return element(t, w, v, slot / per, i % LANES, slot % per);
}

Run run_wmma(Warp *w, const Ins *in, u32 mask)
{
	Tiles t;
	Type type[4];
	u32 m = in->shape[0], n = in->shape[1], k = in->shape[2];
	(void)mask;
	wmma_types(in, type);
	bool wide = wide_math(type[0]);
	for (u32 i = 0; i < m * k; i++)
		put_a(&t, wide, i / k, i % k, wmma_get(w, &in->args[1], type[1], i));
	for (u32 i = 0; i < k * n; i++)
		put_b(&t, wide, i / n, i % n, wmma_get(w, &in->args[2], type[2], i));
	for (u32 i = 0; i < m * n; i++)
		put_c(&t, wide, i / n, i % n, wmma_get(w, &in->args[3], type[3], i));
	tiles_product(&t, in->shape, wide);
	u32 per = per_register(type[0]);
	for (u32 i = 0; i < m * n; i++)
		element_put(in, type[0], w, &in->args[0], i / LANES / per, i % LANES,
			    i / LANES % per, get_c(&t, wide, i / n, i % n));
	return RUN_NEXT;
}
