#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the Debian packages and the Python wheel and tries them in a bare Debian 12: a chroot that holds
# what debootstrap calls minbase. Root and Debian's archive are needed; nothing outside build/ changes.
#   tools/check-packages.sh [PTXAS]         the assembler that the chroot gets; else the one that is found
set -eu
cd "$(dirname -- "$0")/.."
root=$PWD
bare=$root/build/bare
ptxas=${1:-$(command -v ptxas || ls /usr/local/cuda*/bin/ptxas build/cuda/bin/ptxas 2>/dev/null | head -n 1)}
[ "$(id -u)" = 0 ] || { echo "check-packages: only root can chroot" >&2; exit 1; }
command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap >/dev/null

say()
{
	echo "check-packages: $*"
}

# What the host knows of the network, for apt inside.
network()
{
	cp /etc/resolv.conf "$bare/etc/" 2>/dev/null || true
	cp /etc/apt/apt.conf.d/*proxy* "$bare/etc/apt/apt.conf.d/" 2>/dev/null || true
}

bare_make()
{
	umount "$bare/proc" 2>/dev/null || true
	rm -rf "$bare"
	if [ -f build/bare.tar ]; then
		mkdir "$bare"
		tar -C "$bare" -xf build/bare.tar
	else
		debootstrap --variant=minbase bookworm "$bare" >build/bare.log
		tar -C "$bare" -cf build/bare.tar .
	fi
	network
}

inside()
{
	chroot "$bare" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		DEBIAN_FRONTEND=noninteractive DSLC_PTXAS=/opt/ptxas sh -euc "$1"
}

say "building"
cmake --preset package >/dev/null
cmake --build --preset package >/dev/null
(cd build/package && rm -rf ./*.deb wheel && cpack >cpack.log)
cmake --build --preset package --target dslc_wheel >/dev/null

say "bootstrapping"
bare_make
mount -t proc proc "$bare/proc"
trap 'umount "$bare/proc"' EXIT
cp build/package/*.deb build/package/wheel/*.whl "$bare/root/"
cp "$ptxas" "$bare/opt/ptxas"

say "the tool alone: compile, run on the simulator, explain"
inside 'dpkg -i /root/dslc_*.deb >/dev/null
	cd /usr/share/doc/dslc/examples/gemm
	dslc gemm.gemm -o /tmp/gemm.cubin
	dslc run gemm.gemm --size M=200,N=300,K=128 --device sim
	dslc explain gemm.gemm -o /dev/null
	dslc --version'

say "the libraries, in a program that was built elsewhere"
cp tests/install/abi-0.2.x86_64 "$bare/tmp/abi"
inside 'dpkg -i /root/libdsl-runtime1_*.deb /root/libdslc1_*.deb >/dev/null; /tmp/abi'

say "development: the examples as projects"
inside 'apt-get update -qq >/dev/null 2>&1
	apt-get install -y -qq --no-install-recommends gcc libc6-dev make cmake pkg-config >/dev/null 2>&1
	apt-get install -y -qq --no-install-recommends /root/*.deb >/dev/null 2>&1
	cp -r /usr/share/doc/dslc/examples /root/
	cd /root/examples/with-cmake
	cmake -S . -B build >/dev/null
	cmake --build build >/dev/null
	build/product sim
	cd ../with-make
	make >/dev/null
	./embed sim
	./host gemm.cubin sim
	./host-static gemm.cubin sim'

say "the wheel, in an environment of its own"
inside 'apt-get install -y -qq --no-install-recommends python3-venv python3-numpy >/dev/null 2>&1
	python3 -m venv --system-site-packages /root/venv
	/root/venv/bin/pip install -q --no-index /root/dslc-*.whl
	/root/venv/bin/python /root/examples/python/product.py
	/root/venv/bin/python /root/examples/gallery/bias_act.py
	/root/venv/bin/python /root/venv/lib/python3*/site-packages/dslc/gallery/grouped.py'

say "removed, nothing is left"
inside 'dpkg -r libdslc-dev libdsl-runtime-dev libdslc1 libdsl-runtime1 dslc >/dev/null
	[ -z "$(find / -xdev \( -name "*dslc*" -o -name "*dsl_runtime*" \) -not -path "/root/*" \
		-not -path "/tmp/*" -not -path "/var/lib/dpkg/*" -not -path "/proc/*")" ]'
say "done"
