/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dsl.h - the runtime: loads cubins that dslc wrote and launches their kernels. C99 and C++11, no
 * CUDA header needed; libcuda is found at run time.
 *   dsl_device_open("cuda:0", &dev);  dsl_module_load(dev, "gemm.cubin", &mod);
 *   dsl_arg args[] = {dsl_arg_ptr("A", a), ..., dsl_arg_int("M", m)};
 *   dsl_launch(mod, "gemm", args, n, stream, NULL);
 * Calls return a dsl_status, and never print or exit; after a failure, dsl_detail() returns a
 * sentence that names tensor, field, value and rule. Handles may be used from several threads at
 * once, except while they are being closed. All sizes are in bytes and 64-bit, unless stated
 * otherwise. The primary context of the GPU is used, so addresses and streams of the CUDA runtime
 * can be passed. */
#ifndef DSL_H
#define DSL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DSL_API __attribute__((visibility("default")))
#else
#define DSL_API
#endif

typedef enum dsl_status {
#define DSL_STATUS(id, number, text, remedy) DSL_##id = number,
#include "status.def"
	DSL_STATUS_LIMIT = 64 /* no status is this large */
} dsl_status;

typedef struct dsl_device dsl_device;
typedef struct dsl_module dsl_module;
typedef struct dsl_event dsl_event;

typedef uint64_t dsl_addr; /* an address in device memory, such as a CUdeviceptr */
typedef void *dsl_stream;  /* a CUstream; NULL is the default stream */

/* status.c: the version of the runtime in use, "0.2.0". What is declared here keeps its binary form
 * from 0.2 on: structs that callers fill begin with their size and grow at the end; dsl_arg does
 * not change. */
DSL_API const char *dsl_version(void);
/* status.c: texts, constant, never NULL */
DSL_API const char *dsl_status_name(dsl_status st);   /* "DSL_ERR_STRIDE" */
DSL_API const char *dsl_status_text(dsl_status st);   /* what happened */
DSL_API const char *dsl_status_remedy(dsl_status st); /* what to do about it */
/* About the last call of this thread that failed; valid until its next failing call; "" before the
 * first. After a launch on the simulator it has the simulator's notes, or "". */
DSL_API const char *dsl_detail(void);

/* device.c: "cuda:N" (CUDA_VISIBLE_DEVICES applies); "cuda" is "cuda:0"; "sim" executes the PTX
 * in a cubin on the host, and checks it (docs/simulator.md has its options, "sim:seed=7,...").
 * The environment variable DSL_LIBCUDA names a libcuda to use instead of libcuda.so.1. Closing a
 * device unloads its modules and invalidates everything that came from it, and dev: to use it after
 * that, or to close it twice, is undefined, as it is with free(). */
DSL_API dsl_status dsl_device_open(const char *name, dsl_device **out);
DSL_API dsl_status dsl_device_close(dsl_device *dev);
DSL_API const char *dsl_device_name(const dsl_device *dev); /* "NVIDIA H200" */
DSL_API const char *dsl_device_arch(const dsl_device *dev); /* "sm_90" */
DSL_API int dsl_device_sms(const dsl_device *dev);
DSL_API int dsl_device_driver(const dsl_device *dev); /* 13000 is 13.0 */

/* Memory of the device, 256-byte aligned. Copies and set wait until they are done, in order with
 * the default stream. Freeing address 0 does nothing. */
DSL_API dsl_status dsl_mem_alloc(dsl_device *dev, size_t size, dsl_addr *out);
DSL_API dsl_status dsl_mem_free(dsl_device *dev, dsl_addr addr);
DSL_API dsl_status dsl_copy_in(dsl_device *dev, dsl_addr to, const void *from, size_t size);
DSL_API dsl_status dsl_copy_out(dsl_device *dev, void *to, dsl_addr from, size_t size);
DSL_API dsl_status dsl_mem_set(dsl_device *dev, dsl_addr to, int byte, size_t size);
/* Waits for all work of the device; reports a failure of a kernel while it ran. */
DSL_API dsl_status dsl_sync(dsl_device *dev);

/* Streams and times. An event is recorded in a stream; elapsed returns the milliseconds between two
 * of them (it waits for the second). */
DSL_API dsl_status dsl_stream_create(dsl_device *dev, dsl_stream *out);
DSL_API dsl_status dsl_stream_sync(dsl_device *dev, dsl_stream stream);
DSL_API dsl_status dsl_stream_destroy(dsl_device *dev, dsl_stream stream);
DSL_API dsl_status dsl_event_create(dsl_device *dev, dsl_event **out);
DSL_API dsl_status dsl_event_record(dsl_event *event, dsl_stream stream);
DSL_API dsl_status dsl_event_elapsed(dsl_event *from, dsl_event *to, float *ms);
DSL_API dsl_status dsl_event_destroy(dsl_event *event);

/* module.c: a module is a cubin on one device, or PTX text, whose kernels dsl_launch_raw launches.
 * The bytes are copied. Loading the same bytes again on a device returns the same module; each load
 * is undone by one unload. Of a module that is not loaded any more, an unload, launch or other call
 * that has a status is DSL_ERR_INVALID. Texts live as long as the
 * module. A cubin for an older GPU than the device's, of a target without a letter, is loaded by
 * the PTX that it holds, which the driver compiles. Where bytes of a cubin have changed since
 * dslc wrote it and its checksum, it is DSL_ERR_DAMAGED. */
DSL_API dsl_status dsl_module_load(dsl_device *dev, const char *path, dsl_module **out);
DSL_API dsl_status dsl_module_load_data(dsl_device *dev, const void *bytes, size_t size,
					dsl_module **out);
DSL_API dsl_status dsl_module_unload(dsl_module *mod);
DSL_API const char *dsl_module_manifest(const dsl_module *mod); /* JSON */
DSL_API const char *dsl_module_ptx(const dsl_module *mod);      /* NULL if it has none */

/* A variable of the module, by its name in PTX: __device__ or __constant__, or a .global or .const
 * of a PTX text. Copies read and set it like any memory of the device (a constant only while no
 * kernel runs); its address is valid as long as the module. size may be NULL. */
DSL_API dsl_status dsl_module_global(dsl_module *mod, const char *name, dsl_addr *addr,
				     size_t *size);

/* elf.c: a section of a cubin in memory, without a device: ".dslc.manifest", ".dslc.ptx", both
 * NUL-terminated, which size does not count. *data points into bytes. */
DSL_API dsl_status dsl_cubin_section(const void *bytes, size_t size, const char *name,
				     const char **data, size_t *data_size);

/* Elements of 4 bits (s4, u4, e2m1) lie two in a byte, the first in its low half; extents and
 * strides count elements all the same.
 * Arguments are passed by name, in any order; the order of the manifest (args, then sizes) is
 * fastest. A tensor takes PTR (or what dsl_pack made, PACKED), a size INT, a scalar INT or FLOAT,
 * depending on its type. */
typedef enum { DSL_PTR = 1, DSL_INT, DSL_FLOAT, DSL_PACKED } dsl_kind;
typedef struct dsl_arg {
	const char *name;
	dsl_kind kind;
	union {
		dsl_addr ptr;
		int64_t i;
		double f;
	} v;
} dsl_arg;

static inline dsl_arg dsl_arg_ptr(const char *name, dsl_addr ptr)
{
	dsl_arg a = {name, DSL_PTR, {ptr}};
	return a;
}

static inline dsl_arg dsl_arg_int(const char *name, int64_t i)
{
	dsl_arg a = {name, DSL_INT, {0}};
	a.v.i = i;
	return a;
}

static inline dsl_arg dsl_arg_float(const char *name, double f)
{
	dsl_arg a = {name, DSL_FLOAT, {0}};
	a.v.f = f;
	return a;
}

/* Zero is the default of each member but the first. */
typedef struct dsl_launch_opts {
	size_t size; /* sizeof(dsl_launch_opts): later versions add members at the end */
	int sms;     /* SMs that a persistent kernel may fill; 0: all of the device */
	int pdl;     /* 0: start while the previous launch ends, if compiled so; -1: never */
	/* after 0.2.0: */
	dsl_addr workspace;     /* device memory that the launch may use, a multiple of 128 */
	size_t workspace_size;  /* bytes; at least what dsl_workspace_size says */
	dsl_addr semaphores;    /* of kernels whose CTAs wait for each other, a multiple of 128 */
	size_t semaphores_size; /* bytes: DSL_SEMAPHORES */
} dsl_launch_opts;

/* Bytes that were 0 before the first launch that was given them, and that only launches write: each
 * leaves them as it finds them, and one that failed leaves nothing that the next would count. */
enum { DSL_SEMAPHORES = 16384 };

/* launch.c: checks arguments, sizes, facts and the rules of TMA, encodes the tensor maps and
 * launches. It does not allocate, load or wait, so it is safe while a stream is captured. opts may
 * be NULL. A problem without output (M = 0) launches nothing and is OK.
 * TMA takes tensors whose address and strides are multiples of 16 bytes. Of inputs that are not,
 * the launch makes copies in the workspace first, in the stream and at each launch; if that is too
 * small, DSL_ERR_WORKSPACE says how many bytes are needed. Launches that may run at the same time
 * must not share it; those of one stream may. Without opts, or with those of 0.2, which have no
 * workspace, such inputs are refused, as in 0.2: DSL_ERR_STRIDE or DSL_ERR_ALIGN. A module that an
 * earlier version compiled with cp_async in a schedule has a second kernel for launches without
 * workspace. It loads, but that kernel is never launched: the rules above hold for it, too.
 * A kernel whose CTAs wait for each other (sums workspace) is launched only where all of them run
 * at one time, DSL_ERR_TOGETHER else, and with semaphores. As workspace, these are not shared by
 * launches that may run at the same time: two graphs that were captured with them are two such.
 * A tensor that is written shares no byte with another argument, nor do the bytes of workspace that
 * the launch needs, nor the semaphores: DSL_ERR_OVERLAP names both. An input that the manifest
 * calls in_place may have the address of an output of its type, shape and strides, and tensors may
 * interleave (docs/book/epilogues.md).
 * A kernel may read inputs that it declares constant while the previous launch still runs: their
 * last write was complete before that one began (docs/book/memory.md). Where a copy of such an
 * input is made, the launch begins after the copy, whatever opts say. */
DSL_API dsl_status dsl_launch(dsl_module *mod, const char *kernel, const dsl_arg *args, size_t n,
			      dsl_stream stream, const dsl_launch_opts *opts);
/* Bytes of workspace that the launch needs: 0 where TMA takes every tensor as it lies. Loads what
 * makes the copies, once on each device: a launch does not, so call this before a capture. */
DSL_API dsl_status dsl_workspace_size(dsl_module *mod, const char *kernel, const dsl_arg *args,
				      size_t n, size_t *bytes);
/* The same checks without a launch, and without workspace. Of a failure, why (may be NULL) receives
 * the sentence that dsl_detail gives, cut to len bytes including its NUL. */
DSL_API dsl_status dsl_can_run(const dsl_module *mod, const char *kernel, const dsl_arg *args,
			       size_t n, char *why, size_t len);
/* Without a device, from the text of a manifest (dsl_module_manifest, --emit=manifest, or the one
 * in a generated launcher); a persistent kernel is assumed to have one SM. */
DSL_API dsl_status dsl_manifest_can_run(const void *manifest, size_t size, const char *kernel,
					const dsl_arg *args, size_t n, char *why, size_t len);
/* Kernels that compute the same by different schedules are the variants of one name. A launch by
 * that name takes the variant whose estimated time is least, of those that accept the arguments;
 * without opts, of those that need no workspace, if there are any. All other calls take the same
 * one. A variant has a name of its own, "gemm__3", by which calls take it whatever the sizes are.
 * dsl_choice returns the variant that a launch with workspace takes. *name (name may be NULL) lives
 * as long as the module. why receives a sentence, cut to len bytes with its NUL: "gemm__3: tile 128
 * x 256 x 64, 4 stages, cooperative; about 12.3 us, SM bound; next gemm__7, 12.9 us"; of a failure,
 * the sentence of dsl_detail. dsl_manifest_choice needs no device, and estimates times of an H200.
 */
DSL_API dsl_status dsl_choice(const dsl_module *mod, const char *kernel, const dsl_arg *args,
			      size_t n, const char **name, char *why, size_t len);
DSL_API dsl_status dsl_manifest_choice(const void *manifest, size_t size, const char *kernel,
				       const dsl_arg *args, size_t n, char *why, size_t len);
/* indices.c: what the kernel's launches found since the last such call, of indices that are neither
 * -1, which says that there is none, nor coordinates of the tensor whose rows they name:
 * DSL_ERR_INDEX, and the detail names the first that was found. Of a kernel that was compiled with
 * --check-indices; any other is DSL_ERR_GLOBAL_NAME. Waits for all work of the device. */
DSL_API dsl_status dsl_status_of(dsl_module *mod, const char *kernel);
/* pool.c: workspace and semaphores that launches of one stream share. It grows when a launch needs
 * more, except while the stream is captured (DSL_ERR_WORKSPACE, DSL_ERR_SEMAPHORES then): launch
 * before. What it once gave, it keeps until it is destroyed, so graphs replay for as long. Not for
 * several threads at once. dsl_pool_launch is dsl_launch in the pool's stream; opts may be NULL,
 * its workspace is not looked at. Wait for the stream, and for its graphs, before destroying. */
typedef struct dsl_pool dsl_pool;
DSL_API dsl_status dsl_pool_create(dsl_device *dev, dsl_stream stream, dsl_pool **out);
DSL_API dsl_status dsl_pool_reserve(dsl_pool *pool, size_t bytes);
DSL_API dsl_status dsl_pool_launch(dsl_pool *pool, dsl_module *mod, const char *kernel,
				   const dsl_arg *args, size_t n, const dsl_launch_opts *opts);
DSL_API dsl_status dsl_pool_destroy(dsl_pool *pool);

/* pack.c: the copy of one input, made once, in the caller's memory (a multiple of 128): for weights
 * that many launches read. args needs that tensor and the sizes that its extents and strides name.
 * *packed is the argument to pass instead of the tensor, as long as the memory stays as it is, with
 * the same sizes. The memory shares no byte with the tensor (DSL_ERR_OVERLAP). *packed holds the
 * address but not the sizes: a launch with other sizes is not refused, reads rows of the copy at
 * wrong places, and may read beyond its end. A launch does not see whether the tensor has changed
 * since. What is packed may be passed where the kernel declares its argument constant, at once: the
 * copy lets no launch begin before it is complete, and an empty launch follows it. */
DSL_API dsl_status dsl_pack_size(dsl_module *mod, const char *kernel, const char *tensor,
				 const dsl_arg *args, size_t n, size_t *bytes);
DSL_API dsl_status dsl_pack(dsl_module *mod, const char *kernel, const char *tensor,
			    const dsl_arg *args, size_t n, dsl_addr memory, size_t size,
			    dsl_stream stream, dsl_arg *packed);

/* A kernel of any compiler, by the name of its entry: the caller passes the parameters in the
 * layout of the kernel (each at its own alignment). cluster 0, 0, 0: what the kernel states. */
typedef struct dsl_raw {
	size_t size; /* sizeof(dsl_raw) */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t smem; /* dynamic shared memory of a CTA, bytes */
	const void *params;
	size_t param_bytes;
	dsl_stream stream;
	/* after 0.2.0: */
	int pdl; /* 1: may start while the previous launch ends: it executes griddepcontrol.wait */
} dsl_raw;
DSL_API dsl_status dsl_launch_raw(dsl_module *mod, const char *kernel, const dsl_raw *raw);
/* A tensor map for such a kernel: 128 bytes in the device's own format, tiled, zero fill.
 * Dimensions with the fastest first; strides of dimensions 1 and up, in bytes; a swizzle of 0, 32,
 * 64 or 128 bytes. */
typedef struct dsl_map {
	size_t size;      /* sizeof(dsl_map) */
	const char *elem; /* "bf16", "f32", "u8", ... */
	dsl_addr base;
	uint32_t rank;
	uint64_t dims[5], strides[4];
	uint32_t box[5], swizzle;
} dsl_map;
DSL_API dsl_status dsl_tensor_map(dsl_device *dev, const dsl_map *map, void *out);

#ifdef __cplusplus
}
#endif

#endif
