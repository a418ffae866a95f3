# A read by one lane hides the following read by all.
# edits verify/*/*.c
# found by test check.patterns.read_by_lane_first: check_patterns
/^static bool read(/,/^}/s/^\tif (!run_knows_lanes/\tif (st->lanes > 1 \&\& cell_in(a->owed.bare_one, st->cell - cells_of(r->m, r->agent))) return true;\n&/
