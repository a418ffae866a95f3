# Residues of `where` clauses are dropped.
# edits verify/*/*.c
# found by sizes 1
/^static Num num_of_size(/,/^}/s/f->div > 1/f->div < 0/
/^static void note_residue(/,/^}/s/^{$/{ if (r) return;/
