# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each kernel of the gallery has a program, which finds it right on the simulator, and a section of docs/gallery.md."""
import contextlib
import io
import runpy
import sys
import unittest
import warnings

from common import ROOT

GALLERY = ROOT / "examples/gallery"
NAMES = sorted(p.stem for p in GALLERY.glob("*.gemm"))


class Gallery(unittest.TestCase):
    def test_programs(self):
        sys.path.insert(0, str(GALLERY))
        for name in NAMES:
            with self.subTest(name), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as said:
                warnings.simplefilter("error")
                sys.modules.pop("check", None)  # each begins with the same random numbers
                try:
                    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
                except SystemExit as end:
                    self.fail(end)
                self.assertRegex(said.getvalue(), r"\A(\w+: max error \S+ \(allowed \S+\)\n)+\Z")

    def test_each_is_in_the_page(self):
        page = (ROOT / "docs/gallery.md").read_text()
        for name in NAMES:
            self.assertIn(f"\n### {name}\n", page, "tools/gallery.rows has no row for it, or docs/gallery.md is old")

    def test_a_wrong_result_is_found(self):
        sys.path.insert(0, str(GALLERY))
        import check
        import numpy as np
        want = np.ones((2, 3), np.float32)
        for got in (check.empty((2, 3), "bf16"), check.array(want * 1.1, "e4m3"), want[:, :2]):
            with self.assertRaises(SystemExit):
                check.compare("wrong", got, want)


if __name__ == "__main__":
    unittest.main()
