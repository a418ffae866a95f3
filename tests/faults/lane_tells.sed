# What one lane did is known to the others at once.
# edits verify/*/*.c
# found by judged 1
/^bool run_knows_lanes(/,/^}/s/^{$/{ if (r) return true;/
