# The simulator does not require the readers' fence.
# edits sim/*.c
# found by test sim.mutate.blend: dslc sim_mutate
/^static void order(/,/^}/s/!a->async || r->async/!a->async || !r->write || r->async/
