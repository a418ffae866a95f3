#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Pages of docs/, as a reader does it: with an installed dslc, its Python package, the folder of examples, and no GPU.
#   tutorial.sh SOURCE BUILD SCRATCH CC FLAGS PYTHON PRELOAD PAGE...
. "$(dirname "$0")/../install/lib.sh"
python=$6 preload=$7
shift 7
export LD_LIBRARY_PATH="$lib" DSL_LIBCUDA="$scratch/none" DSLC_CACHE_DIR=

# tool NAME COMMAND: what the page calls NAME
tool()
{
	printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$scratch/tools/$1"
	chmod +x "$scratch/tools/$1"
}
mkdir "$scratch/tools" "$scratch/page"
tool cc "$cc $flags"
tool python3 "env LD_PRELOAD='$preload' PYTHONPATH=$build/python $python"
PATH=$scratch/tools:$PATH
cd "$scratch/page"
ln -s "$source/examples" examples
for page; do
	"$python" "$source/tests/docs/page.py" "$source/docs/$page.md"
done
