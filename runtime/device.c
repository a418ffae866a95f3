/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* device.c - the public calls on a device: checks of the handles, then the device's own function.
 * Which devices there are: the table in device_open. */
#include "runtime/rt.h"

#include <stdlib.h>
#include <string.h>

/* The number in "cuda:7"; "cuda" is 0; -1 when it is neither. */
static int cuda_number(const char *name)
{
	if (strncmp(name, "cuda", 4) != 0)
		return -1;
	if (!name[4])
		return 0;
	char *end;
	long n = strtol(name + 5, &end, 10);
	if (name[4] != ':' || name[5] < '0' || name[5] > '9' || *end || n > 9999)
		return -1;
	return (int)n;
}

dsl_status dsl_device_open(const char *name, dsl_device **out)
{
	if (!name || !out)
		return detail_null("dsl_device_open", !name ? "name" : "out");
	if (strncmp(name, "sim", 3) == 0 && (!name[3] || name[3] == ':'))
		return sim_open(name[3] ? name + 4 : "", out);
	int number = cuda_number(name);
	if (number < 0)
		return detail_fail(DSL_ERR_DEVICE_NAME, "\"%.60s\" is not \"cuda:N\" or \"sim\"",
				   name);
	return cuda_open(number, out);
}

dsl_status dsl_device_close(dsl_device *dev)
{
	if (!dev)
		return DSL_OK;
	modules_free(dev);
	pthread_mutex_destroy(&dev->lock);
	dev->ops->close(dev);
	return DSL_OK;
}

const char *dsl_device_name(const dsl_device *dev)
{
	return dev ? dev->name : "";
}

const char *dsl_device_arch(const dsl_device *dev)
{
	return dev ? dev->arch : "";
}

int dsl_device_sms(const dsl_device *dev)
{
	return dev ? dev->sms : 0;
}

int dsl_device_driver(const dsl_device *dev)
{
	return dev ? dev->driver : 0;
}

dsl_status dsl_mem_alloc(dsl_device *dev, size_t size, dsl_addr *out)
{
	if (!dev || !out)
		return detail_null("dsl_mem_alloc", !dev ? "dev" : "out");
	*out = 0;
	return size ? dev->ops->mem_alloc(dev, size, out) : DSL_OK;
}

dsl_status dsl_mem_free(dsl_device *dev, dsl_addr addr)
{
	if (!dev)
		return detail_null("dsl_mem_free", "dev");
	return addr ? dev->ops->mem_free(dev, addr) : DSL_OK;
}

static dsl_status copy_check(const char *call, const dsl_device *dev, dsl_addr addr,
			     const void *host)
{
	if (!dev)
		return detail_null(call, "dev");
	if (!addr)
		return detail_null(call, "the device address");
	return host ? DSL_OK : detail_null(call, "the host address");
}

dsl_status dsl_copy_in(dsl_device *dev, dsl_addr to, const void *from, size_t size)
{
	dsl_status st = size ? copy_check("dsl_copy_in", dev, to, from) : DSL_OK;
	return st || !size ? st : dev->ops->copy_in(dev, to, from, size);
}

dsl_status dsl_copy_out(dsl_device *dev, void *to, dsl_addr from, size_t size)
{
	dsl_status st = size ? copy_check("dsl_copy_out", dev, from, to) : DSL_OK;
	return st || !size ? st : dev->ops->copy_out(dev, to, from, size);
}

dsl_status dsl_mem_set(dsl_device *dev, dsl_addr to, int byte, size_t size)
{
	dsl_status st = size ? copy_check("dsl_mem_set", dev, to, "") : DSL_OK;
	return st || !size ? st : dev->ops->mem_set(dev, to, (unsigned char)byte, size);
}

dsl_status dsl_sync(dsl_device *dev)
{
	return dev ? dev->ops->sync(dev) : detail_null("dsl_sync", "dev");
}

dsl_status dsl_stream_create(dsl_device *dev, dsl_stream *out)
{
	if (!dev || !out)
		return detail_null("dsl_stream_create", !dev ? "dev" : "out");
	return dev->ops->stream_create(dev, out);
}

dsl_status dsl_stream_sync(dsl_device *dev, dsl_stream stream)
{
	return dev ? dev->ops->stream_sync(dev, stream) : detail_null("dsl_stream_sync", "dev");
}

dsl_status dsl_stream_destroy(dsl_device *dev, dsl_stream stream)
{
	if (!dev)
		return detail_null("dsl_stream_destroy", "dev");
	return stream ? dev->ops->stream_destroy(dev, stream) : DSL_OK;
}

dsl_status dsl_event_create(dsl_device *dev, dsl_event **out)
{
	if (!dev || !out)
		return detail_null("dsl_event_create", !dev ? "dev" : "out");
	dsl_event *e = calloc(1, sizeof *e);
	if (!e)
		return detail_fail(DSL_ERR_MEMORY, "no memory for an event");
	e->dev = dev;
	dsl_status st = dev->ops->event_create(dev, &e->handle);
	if (st)
		free(e);
	else
		*out = e;
	return st;
}

dsl_status dsl_event_record(dsl_event *event, dsl_stream stream)
{
	if (!event)
		return detail_null("dsl_event_record", "event");
	return event->dev->ops->event_record(event->dev, event->handle, stream);
}

dsl_status dsl_event_elapsed(dsl_event *from, dsl_event *to, float *ms)
{
	if (!from || !to || !ms)
		return detail_null("dsl_event_elapsed", "an event or ms");
	return from->dev->ops->event_elapsed(from->dev, from->handle, to->handle, ms);
}

dsl_status dsl_event_destroy(dsl_event *event)
{
	if (!event)
		return DSL_OK;
	dsl_status st = event->dev->ops->event_destroy(event->dev, event->handle);
	free(event);
	return st;
}
