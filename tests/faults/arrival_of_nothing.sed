# An arrival may count 0.
# edits verify/*/*.c
# found by roles 1
/^static bool count(/,/^}/s/if (n <= 0)/if (n < 0)/
