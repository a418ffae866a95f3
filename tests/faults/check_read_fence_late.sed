# The verifier accepts a reader's fence after the meeting.
# edits verify/*/*.c
# found by roles 7
# found by judged 1
s/owed->shut\[w\] |= owed->bare\[w\];//
s/one\[w\] = owed->bare_one\[w\];/one[w] = owed->bare_one[w] | owed->bare[w];/
