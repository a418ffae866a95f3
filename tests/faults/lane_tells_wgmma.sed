# A wgmma knows what each lane did, and what it fenced before the others knew.
# edits verify/*/*.c
# found by judged 2
s/st->lanes > 1 || st->kind == STEP_MMA/st->lanes > 1/
s/if (st->kind == STEP_MMA && cell_in(o->fenced_one, own))/if (!o)/
