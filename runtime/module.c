/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* module.c - cubins on a device: read, find manifest and PTX, check architecture and driver, load.
 * Each device has a table of its modules; the same bytes are loaded once and counted.
 *   gemm.cubin  ->  bytes, KModuleDesc, a Plan per kernel, the device's module */
#include "runtime/rt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All modules that are loaded, so that a handle that is none any more is known without a look
 * after it. */
static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static dsl_module *live;

static void live_add(dsl_module *m)
{
	pthread_mutex_lock(&live_lock);
	m->next_live = live;
	live = m;
	pthread_mutex_unlock(&live_lock);
}

static void live_remove(const dsl_module *m)
{
	pthread_mutex_lock(&live_lock);
	dsl_module **at = &live;
	while (*at != m)
		at = &(*at)->next_live;
	*at = m->next_live;
	pthread_mutex_unlock(&live_lock);
}

/* The device of a module, NULL where it is not loaded. */
static dsl_device *live_device(const dsl_module *m)
{
	pthread_mutex_lock(&live_lock);
	const dsl_module *at = live;
	while (at && at != m)
		at = at->next_live;
	dsl_device *dev = at ? at->dev : NULL;
	pthread_mutex_unlock(&live_lock);
	return dev;
}

dsl_status module_check(const dsl_module *m)
{
	return live_device(m) ? DSL_OK
			      : detail_fail(DSL_ERR_INVALID,
					    "this module is not loaded: it was unloaded as often "
					    "as it was loaded, or its device was closed");
}

void module_free(dsl_module *m)
{
	for (int i = 0; m->plans && i < m->desc->nkernels; i++)
		plan_free(&m->plans[i]);
	free(m->plans);
	dsl_desc_free(m->desc);
	free(m->bytes);
	free(m);
}

static dsl_status plans_init(const Why *w, dsl_module *m)
{
	m->plans = calloc((size_t)m->desc->nkernels + 1, sizeof *m->plans);
	if (!m->plans)
		return why_fail(w, DSL_ERR_MEMORY, "no memory for a module");
	dsl_status st = DSL_OK;
	for (int i = 0; i < m->desc->nkernels && !st; i++)
		st = plan_init(w, &m->plans[i], &m->desc->kernels[i]);
	return st ? st : families_init(w, m);
}

dsl_status module_dry(const Why *w, const char *manifest, size_t size, dsl_module **out)
{
	dsl_module *m = calloc(1, sizeof *m);
	if (!m)
		return why_fail(w, DSL_ERR_MEMORY, "no memory for a manifest");
	dsl_status st = manifest_parse(w, manifest, size, &m->desc);
	if (!st)
		st = plans_init(w, m);
	if (st)
		module_free(m);
	else
		*out = m;
	return st;
}

/* Text that says .version somewhere at its start and has no NUL. */
static bool is_ptx(const unsigned char *bytes, size_t size)
{
	static const char word[] = ".version";
	size_t look = size < 4096 ? size : 4096, n = sizeof word - 1;
	if (memchr(bytes, 0, size) && bytes[size - 1])
		return false;
	for (size_t i = 0; i + n <= look; i++)
		if (memcmp(bytes + i, word, n) == 0)
			return bytes[0] != 0x7f;
	return false;
}

static dsl_status ptx_read(const Why *w, dsl_module *m)
{
	m->ptx = (const char *)m->bytes;
	m->ptx_size = m->size;
	m->manifest = "";
	dsl_status st = manifest_none(w, &m->desc);
	return st ? st : plans_init(w, m);
}

/* Cubins that were built before they had a checksum are taken as they are. */
static dsl_status sum_check(const Why *w, const dsl_module *m)
{
	const char *file = (const char *)m->bytes, *at = strstr(m->manifest, KD_SUM_KEY);
	char right[sizeof KD_SUM_NONE];
	if (!at)
		return DSL_OK;
	at += strlen(KD_SUM_KEY);
	size_t before = (size_t)(at - file), digits = strnlen(at, strlen(KD_SUM_NONE));
	uint64_t sum = kdesc_sum(KD_SUM, file, before);
	sum = kdesc_sum(sum, at + digits, m->size - before - digits);
	snprintf(right, sizeof right, "%016llx", (unsigned long long)sum);
	if (!strncmp(at, right, strlen(right)))
		return DSL_OK;
	return why_fail(w, DSL_ERR_DAMAGED,
			"bytes of the cubin have changed since dslc wrote it: their checksum is "
			"%s, the manifest says %.16s",
			right, at);
}

static dsl_status module_read(const Why *w, dsl_module *m)
{
	size_t size;
	if (is_ptx(m->bytes, m->size))
		return ptx_read(w, m);
	dsl_status st = elf_section(w, m->bytes, m->size, ".dslc.manifest", &m->manifest, &size);
	if (!st)
		st = sum_check(w, m);
	if (!st)
		st = manifest_parse(w, m->manifest, size, &m->desc);
	if (!st)
		st = plans_init(w, m);
	if (st)
		return st;
	const Why quiet = {NULL, 0};
	st = elf_section(&quiet, m->bytes, m->size, ".dslc.ptx", &m->ptx, &m->ptx_size);
	if (st == DSL_ERR_DAMAGED)
		return why_fail(w, st, "section .dslc.ptx is damaged");
	return st == DSL_ERR_NO_MANIFEST ? DSL_OK : st;
}

/* "sm_90a" runs on 9.0 only; "sm_90" on 9.x from 9.0 on. */
static bool arch_runs(const char *target, int major, int minor)
{
	char *end;
	if (strncmp(target, "sm_", 3) != 0)
		return false;
	long n = strtol(target + 3, &end, 10);
	if (n / 10 != major)
		return false;
	return *end ? n % 10 == minor : n % 10 <= minor;
}

/* PTX of a plain target runs on all that came later. PTX ISA, .target */
static bool ptx_runs(const dsl_module *m)
{
	char *end;
	if (!m->ptx || strncmp(m->desc->target, "sm_", 3) != 0)
		return false;
	long n = strtol(m->desc->target + 3, &end, 10);
	return n > 0 && !*end && n <= 10 * m->dev->cc_major + m->dev->cc_minor;
}

static dsl_status module_fits(const Why *w, dsl_module *m)
{
	const dsl_device *dev = m->dev;
	const KModuleDesc *d = m->desc;
	m->from_ptx = !arch_runs(d->target, dev->cc_major, dev->cc_minor);
	if (m->from_ptx && !ptx_runs(m) && !dev->any_target)
		return why_fail(w, DSL_ERR_ARCH, "%s was built for %s, this device is %s (%s)",
				d->source, d->target, dev->arch, dev->name);
	if (dev->driver < d->min_driver)
		return why_fail(w, DSL_ERR_DRIVER_OLD,
				"%s needs a driver for CUDA %d.%d, this one is for %d.%d",
				d->source, d->min_driver / 1000, d->min_driver % 1000 / 10,
				dev->driver / 1000, dev->driver % 1000 / 10);
	return DSL_OK;
}

static dsl_status module_new(dsl_device *dev, const void *bytes, size_t size, dsl_module **out)
{
	Why w = why_thread();
	dsl_module *m = calloc(1, sizeof *m);
	unsigned char *copy = malloc(size + 1);
	if (!m || !copy) {
		free(m);
		free(copy);
		return why_fail(&w, DSL_ERR_MEMORY, "no memory for a cubin of %zu bytes", size);
	}
	memcpy(copy, bytes, size);
	copy[size] = 0;
	*m = (dsl_module){.dev = dev, .uses = 1, .bytes = copy, .size = size};
	dsl_status st = module_read(&w, m);
	if (!st)
		st = module_fits(&w, m);
	if (!st)
		st = dev->ops->module_load(dev, m);
	if (st)
		module_free(m);
	else
		*out = m;
	return st;
}

static dsl_module *module_find(dsl_device *dev, const void *bytes, size_t size)
{
	for (dsl_module *m = dev->modules; m; m = m->next)
		if (m->size == size && memcmp(m->bytes, bytes, size) == 0)
			return m;
	return NULL;
}

dsl_status dsl_module_load_data(dsl_device *dev, const void *bytes, size_t size, dsl_module **out)
{
	if (!dev || !bytes || !out)
		return detail_null("dsl_module_load_data", !dev ? "dev" : !bytes ? "bytes" : "out");
	if (!size)
		return detail_fail(DSL_ERR_NOT_CUBIN, "the cubin is empty");
	dsl_status st = DSL_OK;
	pthread_mutex_lock(&dev->lock);
	dsl_module *m = module_find(dev, bytes, size);
	if (m) {
		m->uses++;
	} else {
		st = module_new(dev, bytes, size, &m);
		if (!st) {
			m->next = dev->modules;
			dev->modules = m;
			live_add(m);
		}
	}
	pthread_mutex_unlock(&dev->lock);
	if (!st)
		*out = m;
	return st;
}

enum { FILE_LIMIT = 256 << 20 }; /* bytes of a module: some files have no end */

/* The whole file, also where its size is not known before (a pipe); of one beyond the limit a bit
 * more than that. */
static unsigned char *file_bytes(FILE *f, size_t *size)
{
	size_t cap = 1 << 16;
	unsigned char *at = malloc(cap), *more;
	*size = 0;
	while (at) {
		*size += fread(at + *size, 1, cap - *size, f);
		if (*size < cap || *size > FILE_LIMIT)
			break;
		more = realloc(at, cap *= 2);
		if (!more)
			free(at);
		at = more;
	}
	return at;
}

dsl_status dsl_module_load(dsl_device *dev, const char *path, dsl_module **out)
{
	if (!dev || !path || !out)
		return detail_null("dsl_module_load", !dev ? "dev" : !path ? "path" : "out");
	FILE *f = fopen(path, "rb");
	if (!f)
		return detail_fail(DSL_ERR_FILE, "%s: %s", path, strerror(errno));
	size_t size;
	errno = 0;
	unsigned char *bytes = file_bytes(f, &size);
	bool broken = ferror(f);
	int error = errno;
	fclose(f);
	dsl_status st;
	if (!bytes)
		st = detail_fail(DSL_ERR_MEMORY, "%s: no memory to read it", path);
	else if (broken)
		st = detail_fail(DSL_ERR_FILE, "%s: %s", path, strerror(error));
	else if (size > FILE_LIMIT)
		st = detail_fail(DSL_ERR_FILE, "%s: more than %d MiB, which no module has", path,
				 FILE_LIMIT >> 20);
	else
		st = dsl_module_load_data(dev, bytes, size, out);
	free(bytes);
	return st;
}

/* Where the device's list has m, or its end. */
static dsl_module **module_at(dsl_device *dev, const dsl_module *m)
{
	dsl_module **at = &dev->modules;
	while (*at && *at != m)
		at = &(*at)->next;
	return at;
}

static void module_drop(dsl_module **at)
{
	dsl_module *m = *at;
	*at = m->next;
	live_remove(m);
	m->dev->ops->module_unload(m->dev, m);
	module_free(m);
}

dsl_status dsl_module_unload(dsl_module *mod)
{
	dsl_device *dev = mod ? live_device(mod) : NULL;
	bool known = false;
	if (!mod)
		return DSL_OK;
	if (dev) {
		pthread_mutex_lock(&dev->lock);
		dsl_module **at = module_at(dev, mod);
		known = *at;
		if (known && --mod->uses == 0)
			module_drop(at);
		pthread_mutex_unlock(&dev->lock);
	}
	return known ? DSL_OK : module_check(mod);
}

void modules_free(dsl_device *dev)
{
	while (dev->modules)
		module_drop(&dev->modules);
}

dsl_status dsl_module_global(dsl_module *mod, const char *name, dsl_addr *addr, size_t *size)
{
	size_t bytes = 0;
	if (!mod || !name || !addr)
		return detail_null("dsl_module_global", !mod ? "mod" : !name ? "name" : "addr");
	*addr = 0;
	dsl_status st = module_check(mod);
	if (!st)
		st = mod->dev->ops->variable(mod->dev, mod, name, addr, &bytes);
	if (!st && size)
		*size = bytes;
	return st;
}

const char *dsl_module_manifest(const dsl_module *mod)
{
	return mod ? mod->manifest : "";
}

const char *dsl_module_ptx(const dsl_module *mod)
{
	return mod ? mod->ptx : NULL;
}

const KModuleDesc *dsl_module_desc(const dsl_module *mod)
{
	return mod ? mod->desc : NULL;
}
