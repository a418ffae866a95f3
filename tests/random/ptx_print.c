/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptx_print.c - a random program as PTX. %r %d %f %p are the program's registers; %m holds the mask
 * of the threads that are here, %t what a statement needs for itself. */
#include "ptx.h"

#include <string.h>

static void block_print(const Stmt *s, int mask, FILE *f);

static void guard_print(const Stmt *s, FILE *f)
{
	if (s->guard >= 0)
		fprintf(f, "@%s%%p%d ", s->guard_not ? "!" : "", s->guard);
}

static void op_print(const Stmt *s, FILE *f)
{
	const OpRow *r = &op_rows[s->row];
	const char *divisor = strchr(r->form, 'R');
	if (divisor)
		fprintf(f, "or.b32 %%t0, %%r%d, 1;\n", s->from[divisor - r->form - 2]);
	guard_print(s, f);
	fprintf(f, "%s %%%c%d", r->op, r->form[0], s->to);
	for (int i = 0; r->form[2 + i]; i++) {
		char c = r->form[2 + i];
		if (c == 'R')
			fputs(", %t0", f);
		else if (c == 'L')
			fputs(", 0xCA", f);
		else if (c == 'i')
			fprintf(f, ", %d", s->from[i]);
		else
			fprintf(f, ", %%%c%d", c, s->from[i]);
	}
	fputs(";\n", f);
}

static void warp_print(const Stmt *s, int mask, FILE *f);

static void sides_print(const Stmt *s, int mask, FILE *f)
{
	int n = s->number;
	fprintf(f, "vote.sync.ballot.b32 %%m%d, %%p%d, %%m%d;\n", 2 * n + 1, s->from[0], mask);
	fprintf(f, "xor.b32 %%m%d, %%m%d, %%m%d;\n", 2 * n + 2, 2 * n + 1, mask);
}

static void if_print(const Stmt *s, int mask, FILE *f)
{
	int n = s->number;
	sides_print(s, mask, f);
	fprintf(f, "@!%%p%d bra ELSE%d;\n", s->from[0], n);
	if (s->never)
		fprintf(f, "setp.eq.u32 %%q%d, %%me, %%me;\n@%%q%d bra OVER%d;\n%s;\nOVER%d:\n", n,
			n, n, s->never, n);
	block_print(s->body, 2 * n + 1, f);
	fprintf(f, "bra END%d;\nELSE%d:\n", n, n);
	block_print(s->other, 2 * n + 2, f);
	fprintf(f, "END%d:\n", n);
}

/* The threads of one side are waited for by those of the other, wherever these are; in the end all
 * go on as one. */
static void meet_print(const Stmt *s, int mask, FILE *f)
{
	int n = s->number;
	sides_print(s, mask, f);
	fprintf(f, "and.pred %%q%d, %%p%d, %%p%d;\n@!%%q%d bra ELSE%d;\n", n, s->from[0],
		s->from[0], n, n);
	block_print(s->body, 2 * n + 1, f);
	warp_print(s->meet, mask, f);
	block_print(s->then, 2 * n + 1, f);
	if (s->twice)
		fprintf(f, "ELSE%d:\n@%%q%d bra END%d;\n", n, n, n);
	else
		fprintf(f, "bra END%d;\nELSE%d:\n", n, n);
	block_print(s->other, 2 * n + 2, f);
	warp_print(s->meet, mask, f);
	block_print(s->or, 2 * n + 2, f);
	fprintf(f, "END%d:\nbar.warp.sync %%m%d;\n", n, mask);
}

/* The mask is made anew each turn, by those of the turn before. */
static void loop_print(const Stmt *s, int mask, FILE *f)
{
	int n = s->number;
	fprintf(f, "mov.u32 %%c%d, 0;\nmov.b32 %%m%d, %%m%d;\n", n, 2 * n + 1, mask);
	if (s->turns < 0)
		fprintf(f, "and.b32 %%e%d, %%r%d, 3;\n", n, s->from[0]);
	else
		fprintf(f, "mov.b32 %%e%d, %d;\n", n, s->turns);
	fprintf(f, "LOOP%d:\nsetp.lt.u32 %%q%d, %%c%d, %%e%d;\n", n, n, n, n);
	fprintf(f, "vote.ballot.sync.b32 %%m%d, %%q%d, %%m%d;\n", 2 * n + 1, n, 2 * n + 1);
	fprintf(f, "@!%%q%d bra DONE%d;\n", n, n);
	block_print(s->body, 2 * n + 1, f);
	fprintf(f, "add.u32 %%c%d, %%c%d, 1;\nbra LOOP%d;\nDONE%d:\n", n, n, n, n);
}

static void shared_print(const Stmt *s, FILE *f)
{
	static const char *const meets[] = {"bar.sync 0", "barrier.aligned.sync 0",
					    "bar.cta.sync 0", "barrier.sync.aligned 0"};
	fprintf(f, "st.shared.u32 [%%own], %%r%d;\n%s;\n", s->from[0], meets[s->row]);
	fprintf(f, "mad.lo.u32 %%t0, %%me, %d, %d;\nand.b32 %%t0, %%t0, %%last;\n", s->lanes,
		s->at);
	fprintf(f, "shl.b32 %%t0, %%t0, 2;\nadd.u32 %%t0, %%t0, %%words;\n");
	fprintf(f, "ld.shared.u32 %%r%d, [%%t0];\n%s;\n", s->to, meets[s->row]);
}

static void warp_print(const Stmt *s, int mask, FILE *f)
{
	static const char *const names[WARP_KINDS] = {"vote.ballot.sync.b32", "vote.sync.all.pred",
						      "vote.any.sync.pred",   "vote.sync.uni.pred",
						      "match.any.sync.b32",   "redux.sync.add.u32",
						      "redux.min.sync.s32",   "redux.sync.max.u32",
						      "redux.and.sync.b32",   "redux.sync.or.b32",
						      "redux.sync.xor.b32",   "shfl.sync.idx.b32",
						      "shfl.idx.sync.b32",    "shfl.sync.up.b32",
						      "shfl.down.sync.b32",   "shfl.sync.bfly.b32"};
	char members[16];
	snprintf(members, sizeof members, s->width < 32 ? "%%group%d" : "%%m%d",
		 s->width < 32 ? s->width : mask);
	const char *name = names[s->row];
	if (s->row <= WARP_UNI)
		fprintf(f, "%s %%%c%d, %%p%d, %s;\n", name, s->row ? 'p' : 'r', s->to, s->from[0],
			members);
	else if (s->row == WARP_MATCH)
		fprintf(f, "and.b32 %%t0, %%r%d, 3;\n%s %%r%d, %%t0, %s;\n", s->from[0], name,
			s->to, members);
	else if (s->row < WARP_LEADER)
		fprintf(f, "%s %%r%d, %%r%d, %s;\n", name, s->to, s->from[0], members);
	else if (s->row == WARP_LEADER)
		fprintf(f,
			"brev.b32 %%t0, %s;\nclz.b32 %%t0, %%t0;\n%s %%r%d, %%r%d, %%t0, 31, %s;\n",
			members, name, s->to, s->from[0], members);
	else
		fprintf(f, "%s %%r%d|%%p3, %%r%d, %d, %d, %s;\n", name, s->to, s->from[0], s->lanes,
			s->clamp, members);
}

static void sum_print(const Stmt *s, FILE *f)
{
	guard_print(s, f);
	fprintf(f, "%s%s %s[%%sums+%d], %%%c%d;\n", s->store ? "red" : "atom", s->mods,
		s->store      ? ""
		: s->row == 7 ? "%x0, "
			      : "%t0, ",
		8 * s->row, s->row == 7 ? 'd' : 'r', s->from[0]);
}

static void memory_print(const Stmt *s, FILE *f)
{
	static const char *const bases[] = {"%own_global", "%own_global", "%own_local",
					    "%own_shared"};
	char c = s->size == 8 ? 'd' : 'r', values[80] = "";
	for (int i = 0; i < s->count; i++)
		sprintf(values + strlen(values), "%s%%%c%d", i ? ", " : "", c,
			(s->to + i) % kind_regs[s->size == 8]);
	const char *open = s->count > 1 ? "{" : "", *close = s->count > 1 ? "}" : "";
	if (s->store)
		fprintf(f, "st%s [%s+%d], %s%s%s;\n", s->mods, bases[s->space], s->at, open, values,
			close);
	else
		fprintf(f, "ld%s %s%s%s, [%s+%d];\n", s->mods, open, values, close, bases[s->space],
			s->at);
}

static void block_print(const Stmt *s, int mask, FILE *f)
{
	for (; s; s = s->next) {
		if (s->kind == ST_OP)
			op_print(s, f);
		else if (s->kind == ST_IF)
			if_print(s, mask, f);
		else if (s->kind == ST_MEET)
			meet_print(s, mask, f);
		else if (s->kind == ST_LOOP)
			loop_print(s, mask, f);
		else if (s->kind == ST_SHARED)
			shared_print(s, f);
		else if (s->kind == ST_WARP)
			warp_print(s, mask, f);
		else if (s->kind == ST_SUM)
			sum_print(s, f);
		else
			memory_print(s, f);
	}
}

static const char begin[] =
	".reg .b32 %r<8>, %t<4>, %m<512>, %c<256>, %e<256>;\n.reg .b64 %d<4>, %x<4>;\n"
	".reg .f32 %f<4>;\n.reg .pred %p<4>, %q<256>;\n"
	".reg .b32 %me, %all, %last, %words, %own, %own_shared, %group8, %group16;\n"
	".reg .b64 %sums, %own_global, %own_local, %in, %out;\n.local .align 16 .b8 box[64];\n"
	"mov.u32 %me, %tid.x;\nmov.u32 %t0, %ctaid.x;\nmov.u32 %t1, %ntid.x;\n"
	"mad.lo.u32 %all, %t0, %t1, %me;\nsub.u32 %last, %t1, 1;\n"
	"mov.u32 %words, words;\nshl.b32 %t0, %me, 2;\nadd.u32 %own, %words, %t0;\n"
	"mov.u32 %own_shared, boxes;\nshl.b32 %t0, %me, 4;\n"
	"add.u32 %own_shared, %own_shared, %t0;\n"
	"st.shared.v4.u32 [%own_shared], {%me, %me, %me, %me};\nst.shared.u32 [%own], %me;\n"
	"mov.u64 %own_local, box;\nmov.b64 %x0, 0;\n"
	"st.local.v2.u64 [%own_local], {%x0, %x0};\nst.local.v2.u64 [%own_local+16], {%x0, %x0};\n"
	"st.local.v2.u64 [%own_local+32], {%x0, %x0};\n"
	"st.local.v2.u64 [%own_local+48], {%x0, %x0};\n"
	"ld.param.u64 %own_global, [memory];\nmul.wide.u32 %x0, %all, 64;\n"
	"add.u64 %own_global, %own_global, %x0;\nld.param.u64 %sums, [sums];\n"
	"ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmul.wide.u32 %x0, %all, 96;\n"
	"add.u64 %in, %in, %x0;\nadd.u64 %out, %out, %x0;\n"
	"mov.u32 %t0, %laneid;\nand.b32 %t1, %t0, 24;\nshl.b32 %group8, 255, %t1;\n"
	"and.b32 %t1, %t0, 16;\nshl.b32 %group16, 65535, %t1;\nmov.b32 %m0, -1;\nbar.sync 0;\n";

static void state_print(const char *op, const char *at, FILE *f)
{
	static const int first[KINDS] = {0, 32, 64, 80};
	for (int k = 0; k < KINDS - 1; k++)
		for (int i = 0; i < kind_regs[k]; i++) {
			bool load = op[0] == 'l', wide = k == KIND_D;
			int byte = first[k] + i * (wide ? 8 : 4);
			const char *type = wide ? "u64" : k == KIND_F ? "f32" : "u32";
			if (load)
				fprintf(f, "ld.global.%s %%%c%d, [%s+%d];\n", type, kind_letters[k],
					i, at, byte);
			else
				fprintf(f, "st.global.%s [%s+%d], %%%c%d;\n", type, at, byte,
					kind_letters[k], i);
		}
}

void program_print(const Program *p, const char *name, FILE *f)
{
	fprintf(f,
		".visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 memory, .param "
		".u64 sums)\n.reqntid %d\n{\n.shared .align 16 .b8 words[%d];\n"
		".shared .align 16 .b8 boxes[%d];\n%s",
		name, p->threads, p->threads * 4, p->threads * 16, begin);
	state_print("ld", "%in", f);
	for (int i = 0; i < 4; i++)
		fprintf(f, "ld.global.u32 %%t0, [%%in+%d];\nsetp.ne.u32 %%p%d, %%t0, 0;\n",
			80 + 4 * i, i);
	block_print(p->body, 0, f);
	state_print("st", "%out", f);
	for (int i = 0; i < 4; i++)
		fprintf(f, "selp.u32 %%t0, 1, 0, %%p%d;\nst.global.u32 [%%out+%d], %%t0;\n", i,
			80 + 4 * i);
	fputs("ret;\n}\n", f);
}
