/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* heap.c - LLVM's heap where ours is that of ASan, which sees nothing in LLVM: a page that it never
 * gives again for each page that LLVM asks for, with a note of who asked. cmake/Llvm.cmake renames
 * what LLVM's C calls, and what its C++ calls is here: new and delete of libc's own heap.
 *     new T  ->  _Znwm  ->  __libc_malloc, not malloc, which is ASan's
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t n);
void __libc_free(void *p);
char *dsl_llvm_strdup(const char *s);

static void *get(size_t n)
{
	void *p = __libc_malloc(n ? n : 1);
	if (!p)
		abort();
	return p;
}

/* Before it, where it begins. */
static void *get_aligned(size_t n, size_t align)
{
	void *whole = get(n + align + sizeof whole);
	uintptr_t from = (uintptr_t)whole + sizeof whole;
	void **p = (void **)((from + align - 1) / align * align);
	p[-1] = whole;
	return p;
}

char *dsl_llvm_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(get(n), s, n);
}

/* new and delete by the names that C++ has for them. */
#define NEW(name, symbol)                     \
	void *name(size_t n) __asm__(symbol); \
	void *name(size_t n)                  \
	{                                     \
		return get(n);                \
	}
#define NEW_ALIGNED(name, symbol)                           \
	void *name(size_t n, size_t align) __asm__(symbol); \
	void *name(size_t n, size_t align)                  \
	{                                                   \
		return get_aligned(n, align);               \
	}
#define DELETE(name, symbol)                \
	void name(void *p) __asm__(symbol); \
	void name(void *p)                  \
	{                                   \
		__libc_free(p);             \
	}
#define DELETE_ALIGNED(name, symbol)                   \
	void name(void *p) __asm__(symbol);            \
	void name(void *p)                             \
	{                                              \
		__libc_free(p ? ((void **)p)[-1] : p); \
	}
NEW(new, "_Znwm")
NEW(new_array, "_Znam")
NEW(new_or_null, "_ZnwmRKSt9nothrow_t")
NEW(new_array_or_null, "_ZnamRKSt9nothrow_t")
NEW_ALIGNED(new_aligned, "_ZnwmSt11align_val_t")
NEW_ALIGNED(new_array_aligned, "_ZnamSt11align_val_t")
NEW_ALIGNED(new_aligned_or_null, "_ZnwmSt11align_val_tRKSt9nothrow_t")
NEW_ALIGNED(new_array_aligned_or_null, "_ZnamSt11align_val_tRKSt9nothrow_t")
DELETE(delete, "_ZdlPv")
DELETE(delete_array, "_ZdaPv")
DELETE(delete_sized, "_ZdlPvm")
DELETE(delete_array_sized, "_ZdaPvm")
DELETE(delete_or_null, "_ZdlPvRKSt9nothrow_t")
DELETE(delete_array_or_null, "_ZdaPvRKSt9nothrow_t")
DELETE_ALIGNED(delete_aligned, "_ZdlPvSt11align_val_t")
DELETE_ALIGNED(delete_array_aligned, "_ZdaPvSt11align_val_t")
DELETE_ALIGNED(delete_aligned_sized, "_ZdlPvmSt11align_val_t")
DELETE_ALIGNED(delete_array_aligned_sized, "_ZdaPvmSt11align_val_t")
DELETE_ALIGNED(delete_aligned_or_null, "_ZdlPvSt11align_val_tRKSt9nothrow_t")
DELETE_ALIGNED(delete_array_aligned_or_null, "_ZdaPvSt11align_val_tRKSt9nothrow_t")
