# Modifiers are taken in the order of the table only.
# edits sim/*.c
# found by ptx 1
/^static bool word_place(/,/^}/s/if (\*used & bit || /if (bit <= *used || /
