/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Faults that the simulator must find, each as a kernel of a few lines with and without the line
 * that prevents it: the hangs and races that people met in the wild, and what else it watches for.
 * "@" stands before the lines that make the kernel right; the case without them must be refuted,
 * with them it must run clean under many orders. */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

enum { RIGHT_SEEDS = 12, WRONG_SEEDS = 4 };

typedef struct {
	const char *name;
	u32 cluster, block;
	SimKind kind;
	const char *says; /* in the report */
	const char *body;
} Case;

/* Registers and names that all bodies use: %rank, tid, bar (full) and bar2, a map of 32 x 8 floats.
 */
static const char head[] =
	".version 8.7\n.target sm_90a\n.address_size 64\n"
	".visible .entry k(.param .u64 out, .param .align 64 .b8 map[128])\n{\n"
	".shared .align 1024 .b8 tile[16384];\n.shared .align 8 .b8 bar[8];\n"
	".shared .align 8 .b8 bar2[8];\n"
	".reg .pred %p<16>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<16>;\n"
	".reg .f32 %f<64>;\n"
	"mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\nmov.u32 %r1, %cluster_ctarank;\n"
	"mov.b64 %rd0, map;\ncvta.param.u64 %rd1, %rd0;\nld.param.u64 %rd2, [out];\n"
	"shr.u32 %r2, %r0, 5;\nshl.b32 %r3, %r0, 2;\nmov.u32 %r4, tile;\nadd.u32 %r5, %r4, %r3;\n";

#define INIT(n)                                               \
	"@%p0 mbarrier.init.shared::cta.b64 [bar], " #n ";\n" \
	"@%p0 fence.mbarrier_init.release.cluster;\n"
#define SYNC          "bar.sync 0;\n"
#define CLUSTER_SYNC  "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define RELAXED_SYNC  "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n"
#define EXPECT(bytes) "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " #bytes ";\n"
#define LOAD(at)                                                                                 \
	"@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
	"[" at "], [%rd1, {0, 0}], [bar];\n"
/* From rank 0 to both. */
#define MULTICAST(at)                                                                            \
	"mov.b16 %rs0, 3;\nsetp.eq.u32 %p6, %r1, 0;\nand.pred %p6, %p6, %p0;\n"                  \
	"@%p6 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes." \
	"multicast::cluster [" at "], [%rd1, {0, 0}], [bar], %rs0;\n"
#define FENCE "fence.proxy.async.shared::cta;\n"
#define STORE                                                                              \
	"@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {0, 0}], " \
	"[tile];\n@%p0 cp.async.bulk.commit_group;\n@%p0 cp.async.bulk.wait_group.read 0;\n"
/* Two warps wait for bar, read and arrive at bar2, which thread 0 waits for. */
#define READ_AND_RELEASE(read)                                                                \
	INIT(1)                                                                               \
	"@%p0 mbarrier.init.shared::cta.b64 [bar2], 2;\n" SYNC EXPECT(1024) LOAD("tile")      \
		WAIT("W", 0) SYNC read                                                        \
		"and.b32 %r9, %r0, 31;\n"                                                     \
		"setp.eq.u32 %p6, %r9, 0;\n@%p6 mbarrier.arrive.shared::cta.b64 _, [bar2];\n" \
		"V: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar2], 0;\n@!%p1 bra V;\n"
#define LDMATRIX                                        \
	"and.b32 %r8, %r3, 28;\nshl.b32 %r8, %r8, 2;\n" \
	"add.u32 %r8, %r8, %r4;\n"                      \
	"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r8];\n"
#define WAIT(label, parity)                                                     \
	label ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], " #parity \
	      ";\n@!%p1 bra " label ";\n"
#define WGMMA                                                                                    \
	"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd4, " \
	"%p2, 1, 1, 0, 0;\n"
#define WGMMA_READY                                                                           \
	"mov.b32 %f0, 0f00000000;\nmov.b32 %f1, %f0;\nmov.b32 %f2, %f0;\nmov.b32 %f3, %f0;\n" \
	"setp.eq.u32 %p2, %r0, %r0;\nshr.u32 %r10, %r4, 4;\ncvt.u64.u32 %rd4, %r10;\n"        \
	"or.b64 %rd4, %rd4, 4611686293305360384;\n"
/* Warp 0 falls through, warp 1 goes to SPIN; one thread each. */
#define FLAG                                                                   \
	"@%p0 st.shared.u32 [bar2], 0;\n" SYNC "and.b32 %r20, %r0, 31;\n"      \
	"setp.ne.u32 %p5, %r20, 0;\n@%p5 bra END;\nsetp.eq.u32 %p6, %r2, 1;\n" \
	"@%p6 bra S;\n"
#define SPIN(load) "S: " load ".u32 %r7, [bar2];\nsetp.eq.u32 %p7, %r7, 0;\n@%p7 bra S;\n"
#define FILL                                                                                 \
	"mov.u32 %r11, %r5;\nmov.u32 %r12, 0;\n"                                             \
	"FILL: st.shared.u32 [%r11], 0;\nadd.u32 %r11, %r11, 512;\nadd.u32 %r12, %r12, 1;\n" \
	"setp.lt.u32 %p3, %r12, 32;\n@%p3 bra FILL;\n"
/* Two warpgroups, each with 64 rows of tile as A and the first 8 of them as B. Each thread has 64
 * bytes at %r13 in the rows of its own warpgroup, and at %r15 in those of the other. */
#define TWO_GROUPS                                                                            \
	"mov.u32 %r11, %r5;\nmov.u32 %r12, 0;\n"                                              \
	"FILL: st.shared.u32 [%r11], 0;\nadd.u32 %r11, %r11, 1024;\nadd.u32 %r12, %r12, 1;\n" \
	"setp.lt.u32 %p3, %r12, 16;\n@%p3 bra FILL;\n"                                        \
	"fence.proxy.async.shared::cta;\n" SYNC WGMMA_READY                                   \
	"shl.b32 %r13, %r0, 6;\nand.b32 %r14, %r13, 8192;\n"                                  \
	"shr.u32 %r14, %r14, 4;\ncvt.u64.u32 %rd5, %r14;\nadd.u64 %rd4, %rd4, %rd5;\n"        \
	"xor.b32 %r15, %r13, 8192;\nadd.u32 %r13, %r13, %r4;\nadd.u32 %r15, %r15, %r4;\n"     \
	"wgmma.fence.sync.aligned;\n" WGMMA                                                   \
	"wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"

static const Case cases[] = {
	{"expect_tx without its arrive", 1, 32, SIM_DEADLOCK, "1 arrival missing",
	 INIT(1) SYNC "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1024;\n" LOAD(
		 "tile") "@ @%p0 mbarrier.arrive.shared::cta.b64 _, [bar];\n" WAIT("W", 0)},
	{"too many bytes expected", 1, 32, SIM_DEADLOCK, "1024 bytes announced and not delivered",
	 INIT(1) SYNC "mov.u32 %r9, 2048;\n@ mov.u32 %r9, 1024;\n"
		      "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r9;\n" LOAD("tile")
			      WAIT("W", 0)},
	{"a CTA of the pair leaves its loop early", 2, 32, SIM_DEADLOCK, "mbarrier bar of CTA rank",
	 INIT(2) CLUSTER_SYNC
	 "mov.u32 %r20, 2;\nsub.u32 %r20, %r20, %r1;\n@ mov.u32 %r20, 2;\n"
	 "mov.u32 %r21, 0;\n"
	 "L: mov.u32 %r22, bar;\nmapa.shared::cluster.u32 %r23, %r22, 0;\n"
	 "mapa.shared::cluster.u32 %r24, %r22, 1;\n"
	 "@%p0 mbarrier.arrive.shared::cluster.b64 _, [%r23];\n"
	 "@%p0 mbarrier.arrive.shared::cluster.b64 _, [%r24];\n"
	 "and.b32 %r25, %r21, 1;\n"
	 "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r25;\n@!%p1 bra W;\n"
	 "add.u32 %r21, %r21, 1;\nsetp.lt.u32 %p4, %r21, %r20;\n@%p4 bra L;\n" CLUSTER_SYNC},
	{"init with a count of 0", 1, 32, SIM_BARRIER, "count of 0",
	 "mov.u32 %r9, 0;\n@ mov.u32 %r9, 1;\n@%p0 mbarrier.init.shared::cta.b64 [bar], %r9;\n"},
	{"a mask bit outside the cluster", 2, 32, SIM_BOUNDS, "outside the cluster",
	 INIT(1) CLUSTER_SYNC EXPECT(
		 1024) "mov.b16 %rs0, 7;\n@ mov.b16 %rs0, 3;\nsetp.eq.u32 %p5, %r1, 0;\nand.pred "
		       "%p5, %p5, %p0;\n"
		       "@%p5 "
		       "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
		       "bytes."
		       "multicast::cluster [tile], [%rd1, {0, 0}], [bar], %rs0;\n" WAIT("W", 0)
			       CLUSTER_SYNC},
	{"an early return that skips an arrive", 1, 64, SIM_DEADLOCK, "1 arrival missing",
	 INIT(2) SYNC "setp.eq.u32 %p5, %r2, 1;\n@ setp.ne.u32 %p5, %r0, %r0;\n@%p5 ret;\n"
		      "and.b32 %r9, %r0, 31;\nsetp.eq.u32 %p6, %r9, 0;\n"
		      "@%p6 mbarrier.arrive.shared::cta.b64 _, [bar];\n" WAIT("W", 0)},
	{"registers that nobody released", 1, 256, SIM_DEADLOCK, "the CTA's pool has",
	 "setp.lt.u32 %p5, %r2, 4;\n@%p5 bra INC;\n"
	 "@ setmaxnreg.dec.sync.aligned.u32 40;\n bra.uni END;\n"
	 "INC: setmaxnreg.inc.sync.aligned.u32 256;\nEND:\n"},
	{"registers of part of a warpgroup", 1, 128, SIM_REGS, "3 of 4 warps",
	 "setp.lt.u32 %p5, %r2, 3;\n@ setp.eq.u32 %p5, %r0, %r0;\n@!%p5 bra END;\n"
	 "setmaxnreg.dec.sync.aligned.u32 40;\nEND:\n"},
	{"registers of a warpgroup that is none", 1, 32, SIM_REGS, "needs four warps",
	 "setp.lt.u32 %p5, %r2, 3;\n@ setp.ne.u32 %p5, %r0, %r0;\n@!%p5 bra END;\n"
	 "setmaxnreg.dec.sync.aligned.u32 40;\nEND:\n"},
	{"two setmaxnreg of one warpgroup", 1, 128, SIM_REGS, "executes another setmaxnreg",
	 "setp.lt.u32 %p5, %r2, 3;\n@ setp.eq.u32 %p5, %r0, %r0;\n@!%p5 bra LAST;\n"
	 "setmaxnreg.dec.sync.aligned.u32 40;\nbra.uni END;\n"
	 "LAST: setmaxnreg.dec.sync.aligned.u32 48;\nEND:\n"},
	{"two setmaxnreg of one warpgroup, to one number", 1, 128, SIM_AGAIN, "another setmaxnreg",
	 "setp.lt.u32 %p5, %r2, 3;\n@ setp.eq.u32 %p5, %r0, %r0;\n@!%p5 bra LAST;\n"
	 "setmaxnreg.dec.sync.aligned.u32 40;\nbra.uni END;\n"
	 "LAST: setmaxnreg.dec.sync.aligned.u32 40;\nEND:\n"},
	{"setmaxnreg twice without a meeting", 1, 256, SIM_AGAIN, "no barrier with warp",
	 "setmaxnreg.dec.sync.aligned.u32 80;\nshr.u32 %r9, %r2, 2;\nadd.u32 %r9, %r9, 1;\n"
	 "@ bar.sync %r9, 128;\nsetmaxnreg.dec.sync.aligned.u32 40;\n"},
	{"no barrier on the loop's back edge", 1, 64, SIM_RACE, "write of tile",
	 "mov.u32 %r9, 0;\nxor.b32 %r8, %r3, 128;\nadd.u32 %r8, %r8, %r4;\n"
	 "L: st.shared.u32 [%r5], %r9;\n" SYNC "ld.shared.u32 %r7, [%r8];\n@ bar.sync 0;\n"
	 "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p4, %r9, 3;\n@%p4 bra L;\n"},
	{"copy-in and partial fill of one buffer", 1, 32, SIM_RACE,
	 "not ordered after the TMA load write",
	 INIT(1) SYNC EXPECT(1024)
		 LOAD("tile") "@ W0: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n"
			      "@ @!%p1 bra W0;\n"
			      "st.shared.u32 [%r5], 0;\n" WAIT("W", 0)},
	{"barrier initialised without order before a peer's use", 2, 32, SIM_RACE,
	 "not ordered after its initialisation",
	 "@%p0 mbarrier.init.shared::cta.b64 [bar], 2;\n@ @%p0 "
	 "fence.mbarrier_init.release.cluster;\nbar.warp.sync 0xffffffff;\n" RELAXED_SYNC
	 "mov.u32 %r22, bar;\nxor.b32 %r9, %r1, 1;\nmapa.shared::cluster.u32 %r23, %r22, "
	 "%r9;\n"
	 "@%p0 mbarrier.arrive.shared::cluster.b64 _, [%r23];\n"
	 "@%p0 mbarrier.arrive.shared::cta.b64 _, [bar];\n" WAIT("W", 0) CLUSTER_SYNC},
	{"a multicast before the peer's barrier is there", 2, 32, SIM_RACE,
	 "the copy's mbarrier is used, not ordered after its initialisation",
	 "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n@ @%p0 "
	 "fence.mbarrier_init.release.cluster;\n@%p0 fence.proxy.async;\nbar.warp.sync "
	 "0xffffffff;\n" RELAXED_SYNC EXPECT(1024) MULTICAST("tile") WAIT("W", 0) CLUSTER_SYNC},
	{"a multicast over what a peer still reads", 2, 32, SIM_RACE,
	 "of tile of CTA rank 1 is not ordered after the TMA load",
	 INIT(1) "@%p0 mbarrier.init.shared::cta.b64 [bar2], 2;\n@%p0 "
		 "fence.mbarrier_init.release.cluster;\n" CLUSTER_SYNC EXPECT(1024) MULTICAST(
			 "tile")
			 WAIT("W",
			      0) "ld.shared.u32 %r7, [%r5];\n" FENCE "mov.u32 %r22, "
				 "bar2;\nmapa.shared::cluster.u32 %r23, %r22, "
				 "0;\n@ @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 "
				 "_, [%r23];\n" EXPECT(
					 1024) "@ setp.ne.u32 %p5, %r1, 0;\n@ @%p5 bra GO;\n"
					       "@ V: "
					       "mbarrier.try_wait.parity.acquire.cluster.shared::"
					       "cta.b64 %p1, [bar2], 0;\n"
					       "@ @!%p1 bra V;\n@ GO:\n" MULTICAST("tile")
						       WAIT("W2", 1) CLUSTER_SYNC},
	{"bytes of the whole cluster, copies to a pair", 4, 32, SIM_DEADLOCK,
	 "2048 bytes announced and not delivered",
	 INIT(1) CLUSTER_SYNC
	 "mov.u32 %r9, 4096;\n@ mov.u32 %r9, 2048;\n"
	 "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r9;\n"
	 "and.b32 %r20, %r1, 2;\nshl.b32 %r21, 3, %r20;\ncvt.u16.u32 %rs0, %r21;\n"
	 "and.b32 %r20, %r1, 1;\nshl.b32 %r20, %r20, 10;\nadd.u32 %r20, %r20, %r4;\n"
	 "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
	 "multicast::cluster [%r20], [%rd1, {0, 0}], [bar], %rs0;\n" WAIT("W", 0) CLUSTER_SYNC},
	{"a peer's shared memory read too early", 2, 32, SIM_RACE, "read of tile of CTA rank",
	 "st.shared.u32 [%r5], %r0;\n@ barrier.cluster.arrive.release.aligned;\n@ "
	 "barrier.cluster.wait.acquire.aligned;\nxor.b32 %r9, %r1, 1;\n"
	 "mapa.shared::cluster.u32 %r23, %r5, %r9;\nld.shared::cluster.u32 %r7, [%r23];\n"
	 "st.shared.u32 [%r5+4096], %r7;\n" CLUSTER_SYNC "st.shared.u32 [%r5], %r7;\n"},
	{"exit while a peer still reads here", 2, 32, SIM_EXIT, "CTA rank",
	 "st.shared.u32 [%r5], %r0;\n" CLUSTER_SYNC "xor.b32 %r9, %r1, 1;\n"
	 "mapa.shared::cluster.u32 %r23, %r5, %r9;\nld.shared::cluster.u32 %r7, [%r23];\n"
	 "@ barrier.cluster.arrive.aligned;\n@ barrier.cluster.wait.aligned;\n"},
	{"st.async read before its bytes came", 2, 32, SIM_RACE, "st.async",
	 INIT(1) CLUSTER_SYNC EXPECT(128) "xor.b32 %r9, %r1, 1;\nmapa.shared::cluster.u32 %r23, "
					  "%r5, %r9;\nmov.u32 %r22, bar;\n"
					  "mapa.shared::cluster.u32 %r24, %r22, %r9;\n"
					  "st.async.shared::cluster.mbarrier::complete_tx::bytes."
					  "u32 [%r23], %r0, [%r24];\n"
					  "@ W0: mbarrier.try_wait.parity.shared::cta.b64 %p1, "
					  "[bar], 0;\n@ @!%p1 bra W0;\n"
					  "ld.shared.u32 %r7, [%r5];\n" WAIT("W", 0) CLUSTER_SYNC},
	{"a CTA that never comes to the cluster's barrier", 2, 32, SIM_DEADLOCK,
	 "the cluster barrier: 1 of 2 warps have arrived",
	 INIT(1) CLUSTER_SYNC "setp.eq.u32 %p5, %r1, 1;\n@ setp.ne.u32 %p5, %r0, %r0;\n"
			      "@!%p5 bra GO;\n" WAIT("W", 0) "GO:\n" CLUSTER_SYNC},
	{"the cluster's barrier twice without its wait", 2, 32, SIM_BARRIER, "twice without a wait",
	 "barrier.cluster.arrive.aligned;\n@ barrier.cluster.wait.aligned;\n" CLUSTER_SYNC
	 "bar.warp.sync 0xffffffff;\n"},
	{"ldmatrix before the copy has landed", 1, 32, SIM_RACE, "read of tile",
	 INIT(1) SYNC EXPECT(1024)
		 LOAD("tile") "@ W0: mbarrier.try_wait.parity.shared::cta.b64 "
			      "%p1, [bar], 0;\n@ @!%p1 bra W0;\n" LDMATRIX WAIT("W", 0)},
	{"a TMA load over what ldmatrix still reads", 1, 64, SIM_RACE, "is not ordered after the",
	 INIT(1) SYNC EXPECT(1024) LOAD("tile") WAIT("W", 0) SYNC LDMATRIX FENCE
	 "@ bar.sync 0;\n" EXPECT(1024) LOAD("tile") WAIT("W2", 1)},
	{"a TMA load over what another warp still loads", 1, 64, SIM_RACE,
	 "is not ordered after the",
	 INIT(1) "@%p0 mbarrier.init.shared::cta.b64 [bar2], 2;\n" SYNC EXPECT(1024) LOAD("tile")
		 WAIT("W", 0) SYNC "ld.shared.u32 %r7, [%r5];\n" FENCE "and.b32 %r9, %r0, 31;\n"
				   "setp.eq.u32 %p6, %r9, 0;\n"
				   "@ @%p6 mbarrier.arrive.shared::cta.b64 _, [bar2];\n"
				   "@ V: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar2], 0;\n"
				   "@ @!%p1 bra V;\n" EXPECT(1024) LOAD("tile") WAIT("W2", 1)},
	{"a flag written without a fence", 1, 64, SIM_RACE, "tile",
	 FLAG "st.shared.u32 [tile], 7;\n@ fence.acq_rel.cta;\nst.volatile.shared.u32 [bar2], 1;\n"
	      "bra END;\n" SPIN("ld.volatile.shared") "fence.acq_rel.cta;\n"
						      "ld.shared.u32 %r8, [tile];\nEND:\n"},
	{"a flag read without a fence", 1, 64, SIM_RACE, "tile",
	 FLAG "st.shared.u32 [tile], 7;\nmembar.cta;\nst.relaxed.cta.shared.u32 [bar2], 1;\n"
	      "bra END;\n" SPIN("ld.relaxed.cta.shared") "@ membar.cta;\n"
							 "ld.shared.u32 %r8, [tile];\nEND:\n"},
	{"a release that comes before the data", 1, 64, SIM_RACE, "tile",
	 FLAG "@ st.shared.u32 [tile], 7;\natom.release.cta.shared.exch.b32 %r9, [bar2], 1;\n"
	      "mov.u32 %r10, 1;\n@ mov.u32 %r10, 0;\nsetp.ne.u32 %p4, %r10, 0;\n"
	      "@%p4 st.shared.u32 [tile], 7;\nbra END;\n" SPIN(
		      "ld.acquire.cta.shared") "ld.shared.u32 %r8, [tile];\nEND:\n"},
	{"barrier storage reused while live", 1, 32, SIM_BARRIER, "overwrites the mbarrier bar",
	 INIT(1) SYNC
	 "@ @%p0 mbarrier.inval.shared::cta.b64 [bar];\n@%p0 st.shared.u32 [bar+4], 7;\n"},
	{"divergence around a barrier", 1, 32, SIM_DIVERGED, "all must run bar.sync together",
	 "setp.lt.u32 %p5, %r0, 7;\n@ setp.eq.u32 %p5, %r0, %r0;\n@!%p5 bra END;\n" SYNC "END:\n"},
	{"a TMA store of what was not fenced", 1, 256, SIM_PROXY, "no fence.proxy.async in between",
	 "st.shared.u32 [%r5], %r0;\n@ fence.proxy.async.shared::cta;\n" SYNC
	 "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {0, 0}], [tile];\n"
	 "@%p0 cp.async.bulk.commit_group;\n@%p0 cp.async.bulk.wait_group 0;\n"},
	{"a TMA load over what was written and not fenced", 1, 64, SIM_PROXY,
	 "TMA load writes tile+0x80, which warp 1 of CTA rank 0 wrote through the generic proxy",
	 INIT(1) SYNC "setp.eq.u32 %p6, %r2, 1;\n@%p6 st.shared.u32 [%r5], 0;\n"
		      "@ fence.proxy.async.shared::cta;\n" SYNC EXPECT(1024) LOAD("tile")
			      WAIT("W", 0)},
	{"a TMA load over what ldmatrix has read, not fenced", 1, 64, SIM_PROXY,
	 "read through the generic proxy",
	 READ_AND_RELEASE(LDMATRIX "@ " FENCE) EXPECT(1024) LOAD("tile") WAIT("W2", 1)},
	{"a TMA load over what threads have read, not fenced", 1, 64, SIM_PROXY,
	 "TMA load writes tile, which warp",
	 READ_AND_RELEASE("ld.shared.u32 %r7, [%r5];\n@ " FENCE) EXPECT(1024) LOAD("tile")
		 WAIT("W2", 1)},
	{"a TMA load over what threads have read, fenced too early", 1, 64, SIM_PROXY,
	 "read through the generic proxy",
	 READ_AND_RELEASE(FENCE "ld.shared.u32 %r7, [%r5];\n@ " FENCE) EXPECT(1024) LOAD("tile")
		 WAIT("W2", 1)},
	{"a TMA load over what threads have read, fenced for global memory", 1, 64, SIM_PROXY,
	 "read through the generic proxy",
	 READ_AND_RELEASE("ld.shared.u32 %r7, [%r5];\nfence.proxy.async.global;\n@ " FENCE)
		 EXPECT(1024) LOAD("tile") WAIT("W2", 1)},
	{"a TMA load over what threads and then a TMA store have read", 1, 64, SIM_PROXY,
	 "read through the generic proxy",
	 READ_AND_RELEASE("ld.shared.u32 %r7, [%r5];\n@ " FENCE) STORE EXPECT(1024) LOAD("tile")
		 WAIT("W2", 1)},
	{"exit while a peer still writes here", 2, 32, SIM_EXIT, "CTA rank 1",
	 INIT(1) CLUSTER_SYNC
	 "setp.eq.u32 %p5, %r1, 1;\n@ setp.ne.u32 %p5, %r1, %r1;\n@%p5 bra END;\n" EXPECT(
		 1024) "mov.b16 %rs0, 3;\nsetp.eq.u32 %p6, %r1, 0;\nand.pred %p6, %p6, %p0;\n"
		       "@%p6 "
		       "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
		       "bytes."
		       "multicast::cluster [tile], [%rd1, {0, 0}], [bar], %rs0;\n" WAIT(
			       "W", 0) "END:\n"},
	{"exit that nothing orders after a peer's arrive", 2, 32, SIM_EXIT, "CTA rank 0",
	 INIT(1) CLUSTER_SYNC
	 "mov.u32 %r22, bar;\nmapa.shared::cluster.u32 %r23, %r22, 0;\n"
	 "setp.eq.u32 %p6, %r1, 1;\nand.pred %p6, %p6, %p0;\n"
	 "@%p6 mbarrier.arrive.shared::cluster.b64 _, [%r23];\n@ barrier.cluster.arrive.aligned;\n"
	 "@ barrier.cluster.wait.aligned;\n"},
	{"a bulk store that nobody waits for", 1, 256, SIM_LEFT, "not waited for",
	 "st.shared.u32 [%r5], %r0;\nfence.proxy.async.shared::cta;\n" SYNC
	 "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 1024;\n"
	 "@%p0 cp.async.bulk.commit_group;\n@ @%p0 cp.async.bulk.wait_group.read 0;\n"},
	{"a bulk store that nobody waits for, beside empty groups", 1, 256, SIM_LEFT,
	 "not waited for",
	 "st.shared.u32 [%r5], %r0;\nfence.proxy.async.shared::cta;\n" SYNC
	 "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 1024;\n"
	 "cp.async.bulk.commit_group;\n@ @%p0 cp.async.bulk.wait_group.read 0;\n"
	 "cp.async.bulk.commit_group;\n"},
	{"a staging buffer rewritten while it is stored", 1, 256, SIM_RACE, "TMA store read",
	 "mov.u32 %r9, 0;\n"
	 "L: st.shared.u32 [%r5], %r9;\nfence.proxy.async.shared::cta;\n" SYNC
	 "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {0, 0}], [tile];\n"
	 "@%p0 cp.async.bulk.commit_group;\n@ @%p0 cp.async.bulk.wait_group.read 0;\n" SYNC
	 "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p4, %r9, 3;\n@%p4 bra L;\n"
	 "@%p0 cp.async.bulk.wait_group 0;\n"},
	{"a read before the copy has landed", 1, 32, SIM_RACE, "read of tile",
	 INIT(1) SYNC EXPECT(1024) LOAD("tile") "@ W0: mbarrier.try_wait.parity.shared::cta.b64 "
						"%p1, [bar], 0;\n@ @!%p1 bra W0;\n"
						"ld.shared.u32 %r7, [%r5];\n" WAIT("W", 0)},
	{"cp.async that is not waited for", 1, 32, SIM_RACE, "cp.async",
	 "cvt.u64.u32 %rd5, %r3;\nadd.u64 %rd6, %rd2, %rd5;\n"
	 "cp.async.ca.shared.global [%r5], [%rd6], 4;\ncp.async.commit_group;\n"
	 "@ cp.async.wait_group 0;\nld.shared.u32 %r7, [%r5];\ncp.async.wait_all;\n"},
	{"mbarrier of a copy without a fence", 1, 32, SIM_INIT, "without fence.mbarrier_init",
	 "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n@ @%p0 "
	 "fence.mbarrier_init.release.cluster;\n" SYNC EXPECT(1024) LOAD("tile") WAIT("W", 0)},
	{"more arrivals than the count", 1, 32, SIM_BARRIER, "arrivals where",
	 INIT(2) SYNC "mov.u32 %r9, 3;\n@ mov.u32 %r9, 2;\n@%p0 mbarrier.arrive.shared::cta.b64 _, "
		      "[bar], %r9;\n"},
	{"no mbarrier there", 1, 32, SIM_BARRIER, "there is no mbarrier at bar2",
	 INIT(1) SYNC "mov.u32 %r9, bar2;\n@ mov.u32 %r9, bar;\n@%p0 "
		      "mbarrier.arrive.shared::cta.b64 _, [%r9];\n"},
	{"shared memory nobody wrote", 1, 32, SIM_UNINIT, "was never written",
	 "@ st.shared.u32 [%r5], 0;\nld.shared.u32 %r7, [%r5];\n"},
	{"an accumulator read too early", 1, 128, SIM_WGMMA, "in flight owns",
	 FILL "fence.proxy.async.shared::cta;\n" SYNC WGMMA_READY
	      "wgmma.fence.sync.aligned;\n" WGMMA
	      "wgmma.commit_group.sync.aligned;\n@ wgmma.wait_group.sync.aligned 0;\nadd.f32 %f9, "
	      "%f0, %f1;\n"
	      "wgmma.wait_group.sync.aligned 0;\n"},
	{"an accumulator without wgmma.fence", 1, 128, SIM_WGMMA, "a fence must come between",
	 FILL "fence.proxy.async.shared::cta;\n" SYNC WGMMA_READY
	      "@ wgmma.fence.sync.aligned;\n" WGMMA
	      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"},
	{"wgmma of what was not fenced", 1, 128, SIM_PROXY, "wgmma reads",
	 FILL "@ fence.proxy.async.shared::cta;\n" SYNC WGMMA_READY
	      "wgmma.fence.sync.aligned;\n" WGMMA
	      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"},
	{"a warp of the warpgroup missing", 1, 128, SIM_DEADLOCK, "has not committed it",
	 FILL "fence.proxy.async.shared::cta;\n" SYNC WGMMA_READY "setp.eq.u32 %p5, %r2, 3;\n"
	      "@ setp.ne.u32 %p5, %r0, %r0;\n@%p5 bra END;\nwgmma.fence.sync.aligned;\n" WGMMA
	      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nEND:\n"},
	{"results over what another warpgroup reads, who does not meet it", 1, 256, SIM_RACE,
	 "not ordered after the wgmma read",
	 TWO_GROUPS "@ bar.sync 0;\nst.shared.u32 [%r15], 0;\n"},
	{"results over what another warpgroup reads, not over its own", 1, 256, SIM_RACE,
	 "not ordered after the wgmma read",
	 TWO_GROUPS "@ mov.u32 %r15, %r13;\nst.shared.u32 [%r15], 0;\n"},
	{"a store past the end of an allocation", 1, 32, SIM_BOUNDS,
	 "byte 4096 of an allocation of 4096",
	 "mov.u64 %rd5, 4096;\n@ mov.u64 %rd5, 4092;\nadd.u64 %rd6, %rd2, %rd5;\nst.global.u32 "
	 "[%rd6], 0;\n"},
	{"a prefetch from after an allocation", 1, 32, SIM_BOUNDS,
	 "byte 4096 of an allocation of 4096",
	 "mov.u64 %rd5, 4096;\n@ mov.u64 %rd5, 4095;\nadd.u64 %rd6, %rd2, %rd5;\n"
	 "prefetch.global.L1 [%rd6];\n"},
	{"a misaligned load", 1, 32, SIM_ALIGN, "not a multiple of 8",
	 "mov.u64 %rd5, 4;\n@ mov.u64 %rd5, 8;\nadd.u64 %rd6, %rd2, %rd5;\nld.global.u64 %rd7, "
	 "[%rd6];\n"},
	{"two counts for one barrier", 1, 64, SIM_BARRIER, "one that arrived before",
	 "mov.u32 %r9, 64;\nsetp.eq.u32 %p5, %r2, 1;\nmov.u32 %r8, 96;\n@ mov.u32 %r8, 64;\n"
	 "@%p5 mov.u32 %r9, %r8;\nbar.sync 1, %r9;\n"},
};

/* The body with the lines after "@ " kept or left out, after the head. */
static size_t body_write(char *to, size_t room, const char *body, bool right)
{
	size_t n = (size_t)snprintf(to, room, "%s", head);
	while (*body) {
		size_t line = strcspn(body, "\n") + 1,
		       fix = body[0] == '@' && body[1] == ' ' ? 2 : 0;
		if (!fix || right)
			n += (size_t)snprintf(to + n, room - n, "%.*s", (int)(line - fix),
					      body + fix);
		body += line;
	}
	return n + (size_t)snprintf(to + n, room - n, "ret;\n}\n");
}

static void run_checks(const Case *c, bool right, u64 seed, u32 clusters, u32 threads, u32 checks,
		       SimResult *result)
{
	struct Memory *m = sim_memory_new();
	char why[600], text[16384];
	size_t n = body_write(text, sizeof text, c->body, right);
	struct SimModule *mod = sim_load(m, text, n, why, sizeof why);
	if (!mod)
		fail_msg("%s: %s\n%s", c->name, why, text);
	_Alignas(64) unsigned char params[192] = {0};
	u64 out = sim_alloc(m, 4096);
	memset(sim_host(m, out, 4096), 0, 4096);
	SimMap map = {.base = out,
		      .rank = 2,
		      .elem = SIM_F32,
		      .dims = {32, 8},
		      .strides = {128},
		      .box = {32, 8}};
	assert_null(sim_map_encode(&map, params + 64));
	memcpy(params, &out, 8);
	SimLaunch l = {.module = mod,
		       .kernel = "k",
		       .grid = {clusters * c->cluster, 1, 1},
		       .block = {c->block, 1, 1},
		       .cluster = {c->cluster, 1, 1},
		       .params = params,
		       .param_bytes = sizeof params,
		       .entry_regs = 168};
	SimOptions o = {.seed = seed, .checks = checks, .threads = threads, .max_steps = 1000000};
	if (!sim_run(m, &l, &o, result, why, sizeof why))
		fail_msg("%s: %s", c->name, why);
	sim_unload(mod);
	sim_memory_free(m);
}

static void run_on(const Case *c, bool right, u64 seed, u32 clusters, u32 threads,
		   SimResult *result)
{
	run_checks(c, right, seed, clusters, threads, CHECK_ALL, result);
}

static void run_case(const Case *c, bool right, u64 seed, SimResult *result)
{
	run_on(c, right, seed, 1, 1, result);
}

static const SimReport *find(const SimResult *r, const Case *c)
{
	for (u32 i = 0; i < r->n; i++)
		if (r->reports[i].kind == c->kind && strstr(r->reports[i].text, c->says))
			return &r->reports[i];
	return NULL;
}

static void print_all(const Case *c, const SimResult *r)
{
	print_message("%s: %u reports\n", c->name, r->n);
	for (u32 i = 0; i < r->n; i++)
		print_message("  %s, line %d: %s\n", sim_kind_word(r->reports[i].kind),
			      r->reports[i].ptx_line, r->reports[i].text);
}

static void each_fault_is_found(void **state)
{
	bool failed = false;
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(cases); i++) {
		for (u64 seed = 0; seed < WRONG_SEEDS; seed++) {
			SimResult r;
			run_case(&cases[i], false, seed, &r);
			if (!find(&r, &cases[i])) {
				print_message("seed %llu: not found: ", (unsigned long long)seed);
				print_all(&cases[i], &r);
				failed = true;
			}
			sim_result_free(&r);
		}
	}
	assert_false(failed);
}

static void right_kernels_are_clean(void **state)
{
	bool failed = false;
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(cases); i++) {
		for (u64 seed = 0; seed < RIGHT_SEEDS; seed++) {
			SimResult r;
			run_case(&cases[i], true, seed, &r);
			if (r.n) {
				print_message("seed %llu: not clean: ", (unsigned long long)seed);
				print_all(&cases[i], &r);
				failed = true;
			}
			sim_result_free(&r);
		}
	}
	assert_false(failed);
}

/* Each warp writes over rows of its own warpgroup, after its own wait. */
static const Case alone = {"results over what other warps of the warpgroup read",
			   1,
			   256,
			   SIM_RACE,
			   "not ordered after the wgmma read",
			   TWO_GROUPS "@ bar.sync 0;\nst.shared.u32 [%r13], 0;\n"};

/* A group is the warpgroup's, unless it is asked that each warp waits for itself. */
static void a_wait_speaks_for_its_warpgroup(void **state)
{
	SimResult r;
	(void)state;
	for (u64 seed = 0; seed < RIGHT_SEEDS; seed++) {
		run_checks(&alone, false, seed, 1, 1, CHECK_ALL, &r);
		assert_int_equal(r.n, 0);
		run_checks(&alone, false, seed, 1, 1, CHECK_ALL | CHECK_WARPS, &r);
		assert_non_null(find(&r, &alone));
		sim_result_free(&r);
		run_checks(&alone, true, seed, 1, 1, CHECK_ALL | CHECK_WARPS, &r);
		assert_int_equal(r.n, 0);
	}
}

/* All clusters race, from the fourth on they also hang, and the later the sooner. */
static const Case uneven = {
	"later clusters fail first",
	1,
	64,
	SIM_DEADLOCK,
	"1 arrival missing",
	INIT(1) SYNC "mov.u32 %r9, %ctaid.x;\nsub.u32 %r10, 8, %r9;\nmul.lo.u32 %r10, %r10, 3000;\n"
		     "L: sub.u32 %r10, %r10, 1;\nsetp.ne.u32 %p4, %r10, 0;\n@%p4 bra L;\n"
		     "xor.b32 %r8, %r3, 128;\nadd.u32 %r8, %r8, %r4;\n"
		     "st.shared.u32 [%r5], %r9;\nld.shared.u32 %r7, [%r8];\n"
		     "setp.lt.u32 %p4, %r9, 3;\n@%p4 bra END;\n" WAIT("W", 0) "END:\n"};

static void expect_equal(const SimResult *a, const SimResult *b)
{
	assert_int_equal(a->steps, b->steps);
	assert_int_equal(a->clusters, b->clusters);
	assert_int_equal(a->n, b->n);
	for (u32 i = 0; i < a->n; i++) {
		const SimReport *x = &a->reports[i], *y = &b->reports[i];
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->ptx_line, y->ptx_line);
		assert_memory_equal(x->cta, y->cta, sizeof x->cta);
		assert_int_equal(x->warp, y->warp);
		assert_int_equal(x->count, y->count);
		assert_string_equal(x->text, y->text);
	}
}

static void threads_change_nothing(void **state)
{
	SimResult one, many;
	(void)state;
	run_on(&uneven, false, 0, 8, 1, &one);
	assert_int_equal(one.clusters, 4);
	assert_true(one.n >= 2);
	assert_int_equal(one.reports[0].cta[0], 0);
	assert_int_equal(one.reports[one.n - 1].kind, SIM_DEADLOCK);
	assert_int_equal(one.reports[one.n - 1].cta[0], 3);
	for (u32 threads = 2; threads <= 8; threads++) {
		run_on(&uneven, false, 0, 8, threads, &many);
		expect_equal(&one, &many);
		sim_result_free(&many);
	}
	sim_result_free(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_is_found),
		cmocka_unit_test(right_kernels_are_clean),
		cmocka_unit_test(a_wait_speaks_for_its_warpgroup),
		cmocka_unit_test(threads_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
