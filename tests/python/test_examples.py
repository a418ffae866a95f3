# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples run as they stand; torch_op.py, which needs a GPU, is read at least by the compiler of Python."""
import ast
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import ROOT


class Examples(unittest.TestCase):
    def test_product(self):
        run = subprocess.run([sys.executable, ROOT / "examples/python/product.py"], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn(": 0 elements are wrong", run.stdout)

    def test_what_dslc_new_writes(self):
        text = (ROOT / "driver/new/program.py.in").read_text()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "driver/new/kernel.gemm.in", pathlib.Path(folder, "first.gemm"))
            program = pathlib.Path(folder, "first.py")
            program.write_text(text.replace("@NAME@", "first"))
            run = subprocess.run([sys.executable, program], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("200 x 136 x 72 on the simulator: 0 elements are wrong", run.stdout)

    def test_notebook(self):
        """The cells of a notebook, as a kernel of Jupyter runs them; what they print is what the file shows."""
        for path in sorted((ROOT / "examples/python").glob("*.ipynb")):
            names, shown = {}, []
            for cell in json.loads(path.read_text())["cells"]:
                if cell["cell_type"] != "code":
                    continue
                body, said = ast.parse("".join(cell["source"])).body, io.StringIO()
                last = body.pop() if isinstance(body[-1], ast.Expr) else None
                with contextlib.redirect_stdout(said):
                    exec(compile(ast.Module(body, []), path, "exec"), names)
                    value = eval(compile(ast.Expression(last.value), path, "eval"), names) if last else None
                shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
                for output in cell["outputs"]:
                    self.assertEqual("".join(output["text"]), said.getvalue().rstrip("\n"), path)
            self.assertIn("<svg", shown[0])
            self.assertIn("'bK': 64}, {'roles': '", " ".join(shown))

    def test_the_rest_parses(self):
        for name in ("examples/python/torch_op.py", "tests/gpu/python_speed.py", "python/dslc/torch.py",
                     "python/backend.py"):
            ast.parse((ROOT / name).read_text(), name)


if __name__ == "__main__":
    unittest.main()
