#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# README.md, as a reader does it in a clone of the project. The clone has the dslc of this build already:
# setup.sh, cmake, ctest, python3 and pip only write down how they are called.
#   readme.sh SOURCE DSLC SCRATCH PYTHON
set -eu
source=$1 dslc=$2 scratch=$3 python=$4
rm -rf "$scratch"
mkdir -p "$scratch/bin" "$scratch/clone/tools" "$scratch/clone/build/release/wheel" "$scratch/clone/build/env/bin"
cd "$scratch/clone"
cp "$source/tools/example.sh" "$source/tools/test.sh" tools
ln -s "$source/examples" examples
ln -s "$dslc" build/release/dslc
touch build/release/wheel/dslc.whl
for tool in clone/tools/setup.sh bin/cmake bin/ctest bin/python3 clone/build/env/bin/pip; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/called"\n' "${tool##*/}" "$scratch" >"$scratch/$tool"
	chmod +x "$scratch/$tool"
done
export PATH="$scratch/bin:$PATH" DSL_LIBCUDA="$scratch/none"
"$python" "$source/tests/docs/page.py" "$source/README.md"

diff - "$scratch/called" <<END
setup.sh 
cmake --preset release
cmake --build --preset release --target dslc
setup.sh 
cmake --preset dev
cmake --build --preset dev
ctest --preset dev -j $(nproc)
cmake --build --preset release --target dslc_wheel
python3 -m venv build/env
pip install build/release/wheel/dslc.whl
END
# The kernel that is shown is the example.
"$dslc" -q -S gemm.gemm -o shown.ptx
"$dslc" -q -S examples/pick/pick.gemm -o example.ptx
sed -i '/\.loc/d; s/[^ "]*\.gemm//' shown.ptx example.ptx
diff shown.ptx example.ptx
