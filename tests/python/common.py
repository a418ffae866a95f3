# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests share. Run as  python3 -m unittest -v NAME  with the package and this folder in PYTHONPATH."""
import os
import pathlib
import re

import dslc

ROOT = pathlib.Path(os.environ["DSLC_ROOT"])
PRODUCT = ROOT / "examples/with-cmake/product.gemm"
SMALL = ROOT / "tests/driver/small.gemm"


def refused(test, call, words, error=dslc.Error, status=None):
    """The call is refused by this error with these words (a regular expression)."""
    with test.assertRaises(error) as caught:
        call()
    test.assertRegex(str(caught.exception), re.compile(words, re.DOTALL))
    if status:
        test.assertEqual(caught.exception.status, "DSL_ERR_" + status)
