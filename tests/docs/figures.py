#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each figure of a page, a number of two digits or more, was measured: it is in the diary.

    figures.py DIARY PAGE [FROM [TO]]       of the page only what is between two headings
"""
import re
import sys


def figures(text):
    return re.findall(r"\d+(?:[.,]\d+)+|\d{2,}", text)


def text_of(path):
    return open(path, encoding="utf-8").read()


diary, page, *headings = sys.argv[1:]
text = text_of(page)
for heading in headings[:1]:
    text = text[text.index(heading):]
for heading in headings[1:]:
    text = text[:text.index(heading)]
shown = figures(text)
invented = sorted(set(shown) - set(figures(text_of(diary))))
if len(shown) < 10:
    sys.exit(f"{page} has only {len(shown)} figures")
if invented:
    sys.exit(f"{page}: not in {diary}: {' '.join(invented)}")
