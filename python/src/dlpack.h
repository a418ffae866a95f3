/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dlpack.h - the structs of DLPack 1.3 that are read here, written down from its specification: how
 * array libraries hand over a tensor without copying it.
 *   DLTensor t;  api->tensor(object, &t);  t.data, t.shape[0], ... */
#ifndef DSL_PYTHON_DLPACK_H
#define DSL_PYTHON_DLPACK_H

#include <stdint.h>

enum { DL_MAJOR = 1, DL_MINOR = 3 };
typedef struct {
	uint32_t major, minor;
} DLVersion;

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
typedef struct {
	int32_t type; /* DL_* */
	int32_t id;
} DLDevice;

enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_E4M3FN = 10, DL_E5M2 = 12, DL_E8M0 = 14 };
typedef struct {
	uint8_t code, bits;
	uint16_t lanes;
} DLType;

typedef struct {
	void *data;
	DLDevice device;
	int32_t ndim;
	DLType dtype;
	int64_t *shape;
	int64_t *strides; /* elements; NULL: dense, the last extent fastest */
	uint64_t byte_offset;
} DLTensor;

/* What a capsule "dltensor" holds. */
typedef struct DLManaged {
	DLTensor tensor;
	void *context;
	void (*deleter)(struct DLManaged *self);
} DLManaged;

/* What a capsule "dltensor_versioned" holds. */
enum { DL_READ_ONLY = 1 };
typedef struct DLVersioned {
	DLVersion version;
	void *context;
	void (*deleter)(struct DLVersioned *self);
	uint64_t flags;
	DLTensor tensor;
} DLVersioned;

/* The table after type.__dlpack_c_exchange_api__, a capsule "dlpack_exchange_api": 0 is success,
 * else a Python exception is set. */
typedef struct DLExchange {
	DLVersion version;
	struct DLExchange *older; /* of an earlier major version, or NULL */
	void (*allocate)(void);   /* not called here; nor are the next two */
	void (*managed_from)(void);
	void (*object_from)(void);
	int (*tensor)(void *object, DLTensor *out); /* borrowed; NULL where it cannot */
	int (*stream)(int32_t device_type, int32_t device_id, void **out);
} DLExchange;

#endif
