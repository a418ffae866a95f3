# A main loop of -1 trips is not considered.
# edits verify/*.c
# found by mutants 55
s/^\tw->trips_lo = .*/&\n\tw->trips_lo = w->trips_lo < 0 ? 0 : w->trips_lo;/
