/* why.c - reasons of decisions as sentences, with the numbers that decided. Nothing is decided
 * here. why_swizzle(k, "sA", 64, 64)
 * ->  swizzle sA 128 rejected: "a row of 64 bytes is no multiple of 128"
 *     swizzle sA 64: "the widest that divides a row of 64 bytes" */
#include "passes/why.h"

void why_swizzle(Kernel *k, const char *buffer, int row_bytes, int swizzle)
{
	for (int w = 128; w > swizzle; w /= 2)
		kernel_why_not(k, WHY_SWIZZLE, buffer, w, "a row of %d bytes is no multiple of %d",
			       row_bytes, w);
	kernel_why(k, WHY_SWIZZLE, buffer, swizzle,
		   "the widest that divides a row of %d bytes: TMA writes it and wgmma reads it, "
		   "K-major",
		   row_bytes);
}

void why_group(Kernel *k, int64_t group)
{
	kernel_why(k, WHY_GROUP, NULL, group,
		   "the default: CTAs that run at one time read few rows of A and of B");
}

void why_staging(Kernel *k, const Val *tensor, int slots, int most, int64_t one, int64_t left)
{
	if (!slots)
		kernel_why(k, WHY_STAGING, tensor->name, 0,
			   "direct stores from registers: a staging slot of %lld bytes does not "
			   "fit in the %lld that the stages leave",
			   (long long)one, (long long)(left > 0 ? left : 0));
	else if (slots < most)
		kernel_why_not(k, WHY_STAGING, tensor->name, slots + 1,
			       "%lld bytes, over the %lld that the stages leave",
			       (long long)((slots + 1) * one), (long long)left);
	if (slots)
		kernel_why(k, WHY_STAGING, tensor->name, slots,
			   "TMA stores: room for %d slot%s of each warpgroup (%lld bytes "
			   "for all of them), at most %d",
			   slots, slots > 1 ? "s" : "", (long long)(slots * one), most);
}

void why_direct(Kernel *k, const Val *tensor, int atom_bytes, bool contiguous)
{
	if (!contiguous)
		kernel_why(k, WHY_STAGING, tensor->name, 0,
			   "direct stores from registers: the rows of %s are not contiguous",
			   tensor->name);
	else
		kernel_why(k, WHY_STAGING, tensor->name, 0,
			   "direct stores from registers: the columns of one atom are %d bytes, no "
			   "multiple of 32, the narrowest swizzle",
			   atom_bytes);
}

void why_stages(Kernel *k, const char *ring, int stages, int64_t one, int64_t left, int most)
{
	if (stages < most)
		kernel_why_not(k, WHY_STAGES, ring, stages + 1, "%lld bytes, over the %lld left",
			       (long long)((stages + 1) * one), (long long)left);
	kernel_why(k, WHY_STAGES, ring, stages,
		   "as many as fit: %d x %lld bytes with their barriers, of %lld; at most %d",
		   stages, (long long)one, (long long)left, most);
}

void why_registers(Kernel *k, int producer, int consumer, int accumulators, int overhead)
{
	if (producer)
		kernel_why(k, WHY_REGISTERS, NULL, consumer,
			   "%d of the accumulator and %d for addresses; the producer keeps %d",
			   accumulators, overhead, producer);
	else
		kernel_why(k, WHY_REGISTERS, NULL, consumer,
			   "%d of the accumulator and %d for addresses; nothing is moved by "
			   "setmaxnreg",
			   accumulators, overhead);
}

void why_few_registers(Kernel *k, int consumer, int needed)
{
	kernel_why_not(k, WHY_REGISTERS, NULL, consumer, "%d are needed", needed);
}

void why_ahead(Kernel *k, const char *ring, int ahead)
{
	kernel_why(k, WHY_AHEAD, ring, ahead, "the stages less the wgmma groups left in flight");
}
