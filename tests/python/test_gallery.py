# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each kernel of the gallery has a program, which finds it right on the simulator, and a section of docs/gallery.md."""
import contextlib
import io
import os
import re
import runpy
import sys
import unittest
import warnings
from unittest import mock

from common import ROOT

GALLERY = ROOT / "examples/gallery"
NAMES = sorted(p.stem for p in GALLERY.glob("*.gemm"))


PART = NAMES if "EVERY" in os.environ or not os.environ.get("LD_PRELOAD") else NAMES[::3]  # of a build with sanitizers


def run(test, name):
    sys.modules.pop("check", None)  # each begins with the same random numbers
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(io.StringIO()) as said:
        warnings.simplefilter("always")
        try:
            runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
        except SystemExit as end:
            test.fail(end)
    test.assertRegex(said.getvalue(), r"\A(\w+: max error \S+ \(allowed \S+\)\n)+\Z")
    test.assertFalse([str(w.message) for w in warned if "warning[" in str(w.message)])


class Gallery(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(GALLERY))
        self.addCleanup(sys.path.remove, str(GALLERY))

    def test_programs(self):
        for name in PART:
            with self.subTest(name):
                run(self, name)

    def test_tensors_of_torch(self):
        """As on a GPU, with tensors that stay in host memory."""
        with mock.patch("torch.cuda.is_available", lambda: True), mock.patch("torch.Tensor.cuda", lambda t: t):
            for name in ("weights4", "convolution"):
                run(self, name)
        sys.modules.pop("check")

    def test_each_is_in_the_page(self):
        page = (ROOT / "docs/gallery.md").read_text()
        for row in re.findall(r"^\|.*\|$", page, re.MULTILINE):
            self.assertLessEqual(max(len(cell.split()) for cell in row.split("|")), 12, row)
        self.assertEqual([line for line in page.splitlines() if len(line) > 140 and line[0] != "|" and "](" not in line], [])
        for name in NAMES:
            self.assertIn(f"\n### {name}\n", page, "tools/gallery.rows has no row for it, or docs/gallery.md is old")

    def test_times_are_those_of_the_other_page(self):
        times = " ".join(re.findall(r"^Time: (?:.+\n)+", (ROOT / "docs/gallery.md").read_text(), re.MULTILINE))
        known = "".join(p.read_text() for p in ROOT.glob("docs/performance*.md"))
        self.assertEqual([t for t in re.findall(r"\d+\.\d+|\d{4}-\d\d-\d\d", times) if t not in known], [])

    def test_a_wrong_result_is_found(self):
        import check
        import numpy as np
        want = np.ones((2, 3), np.float32)
        for got in (check.empty((2, 3), "bf16"), check.array(want * 1.1, "e4m3"), want[:, :2]):
            with self.assertRaises(SystemExit):
                check.compare("wrong", got, want)


if __name__ == "__main__":
    unittest.main()
