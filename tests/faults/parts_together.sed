# Parts of a slot at two barriers are known by the last.
# edits verify/*/*.c
# found by judged 2
/^bool run_parts_apart(/,/^}/s/^{$/{ if (r) return false;/
