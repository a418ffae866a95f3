#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The wheel is made twice with the same bytes, says what it is, and works from where it is unpacked.
#   wheel.sh SOURCE SCRATCH PYTHON LIBRARY VERSION
set -eu
source=$1 scratch=$2 python=$3 library=$4 version=$5
preload=${LD_PRELOAD:-}
unset LD_PRELOAD

fail()
{
	echo "wheel.sh: $*" >&2
	exit 1
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
"$python" "$source/python/make_wheel.py" "$library" one "$version" 1 >path
sleep 1
"$python" "$source/python/make_wheel.py" "$library" two "$version" 1 >/dev/null
wheel=$(cat path)
cmp "$wheel" two/*.whl || fail "the same files give another wheel"
case $wheel in
one/dslc-$version-cp39-abi3-manylinux_2_[0-9]*_x86_64.whl) ;;
*) fail "the wheel is called $wheel" ;;
esac

"$python" -m zipfile -e "$wheel" site
"$python" - site/dslc-*.dist-info/RECORD <<'END'
import base64, hashlib, pathlib, sys
for row in open(sys.argv[1]).read().split():
    name, digest, size = row.split(",")
    data = pathlib.Path("site", name).read_bytes()
    if digest:
        right = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert digest == "sha256=" + right and int(size) == len(data), name
END
grep -qx "Requires-Dist: nvidia-cuda-nvcc-cu12 ==12.9.\* ; extra == 'ptxas'" site/dslc-*.dist-info/METADATA || fail "another ptxas"
readelf -d site/dslc/_dslc.abi3.so | grep -q 'NEEDED.*python' && fail "it is bound to one Python"
LD_PRELOAD=$preload PYTHONPATH=site "$python" -m dslc run "$source/tests/driver/small.gemm" --size M=8,N=8,K=8 --device sim |
	grep -q '^small: right as the source says' || fail "python -m dslc does not run a kernel"
grep -qx 'dslc = dslc.__main__:main' site/dslc-*.dist-info/entry_points.txt || fail "no script dslc"
LD_PRELOAD=$preload PYTHONPATH=site "$python" - "$source/tests/driver/small.gemm" <<'END' || fail "it does not run"
import sys, dslc, numpy
assert dslc.__file__.startswith(__import__("os").getcwd()), dslc.__file__
assert __import__("dslc.attention").attention._kernel("attention_causal").name == "attention"
k = dslc.load(sys.argv[1], sim="seed=3")
one, d = numpy.full((8, 8), 0x3f80, numpy.uint16), numpy.zeros((8, 8), numpy.uint16)
k(one, one, out=d)
assert (d == 0x4100).all()
END
LD_PRELOAD=$preload PYTHONPATH=site "$python" site/dslc/gallery/bias_act.py || fail "its gallery does not run"
