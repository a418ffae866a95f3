#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes a Debian 12 machine able to build and test dslc; running it again changes nothing.
#   tools/setup.sh
# Installs the Debian packages that are missing. Where no ptxas of CUDA 13 or no cuda.h is found,
# both are fetched from PyPI into build/cuda: no CUDA toolkit is needed.
# Environment: DSLC_PTXAS, CUDA_HOME (where to look first), DSLC_IGNORE_SYSTEM_CUDA=1 (look
# nowhere but in build/cuda), DSLC_LOCAL_CUDA (a folder to take the place of build/cuda).
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
local_cuda=${DSLC_LOCAL_CUDA:-$root/build/cuda}
ptxas_major=13
nvcc_wheel='nvidia-cuda-nvcc==13.0.*'
runtime_wheel='nvidia-cuda-runtime==13.0.*'

packages='gcc libc6-dev libstdc++-12-dev cmake ninja-build flex bison
	llvm-22-dev llvm-22-tools zlib1g-dev libzstd-dev libjson-c-dev libcmocka-dev
	clang-22 libclang-rt-22-dev clang-format-22 binutils lld
	pkg-config make python3-dev python3-numpy python3-torch zsh fish'

say()
{
	echo "setup: $*"
}

die()
{
	echo "setup: error: $*" >&2
	exit 1
}

package_present()
{
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "not root and no sudo; as root run: $*"
	fi
}

# Installs those of the named packages that are missing; asks for new lists at most once.
packages_install()
{
	missing=
	for p in "$@"; do
		package_present "$p" || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null ||
		die "no apt-get; install by hand what stands for:$missing"
	say "installing$missing"
	[ -n "${lists_fresh:-}" ] || as_root apt-get update -qq
	lists_fresh=1
	for p in $missing; do
		apt-cache show "$p" >/dev/null 2>&1 ||
			die "no package $p: Debian 12 with bookworm-security is needed" \
				"(deb http://deb.debian.org/debian-security bookworm-security main)"
	done
	# shellcheck disable=SC2086
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends $missing >/dev/null
}

ptxas_fits()
{
	[ -x "$1" ] || return 1
	v=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
	[ -n "$v" ] && [ "$v" -ge $ptxas_major ]
}

# The places of cmake/Cuda.cmake and of the dslc driver, in their order.
ptxas_find()
{
	for f in "${DSLC_PTXAS:-}" "${CUDA_HOME:-}/bin/ptxas" "$(command -v ptxas || true)" \
		/usr/local/cuda*/bin/ptxas; do
		if ptxas_fits "$f"; then
			echo "$f"
			return
		fi
	done
}

header_find()
{
	for d in "${CUDA_HOME:-}" /usr/local/cuda* /usr; do
		for h in "$d/include/cuda.h" "$d/targets/x86_64-linux/include/cuda.h"; do
			if [ -n "$d" ] && [ -f "$h" ]; then
				echo "$h"
				return
			fi
		done
	done
}

# Downloads one wheel and leaves its files under $work/unpacked.
wheel_fetch()
{
	python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
		-d "$work" "$1" || die "pip could not download $1"
	for wheel in "$work"/*.whl; do
		python3 -m zipfile -e "$wheel" "$work/unpacked"
		rm "$wheel"
	done
}

# The folder gets its name only when it is whole, so a run that broke off is made anew.
cuda_fetch()
{
	python3 -m pip --version >/dev/null 2>&1 ||
		packages_install python3 python3-pip ca-certificates
	say "fetching ptxas and cuda.h from PyPI into $local_cuda"
	mkdir -p "$(dirname "$local_cuda")"
	work=$(mktemp -d "$local_cuda.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	wheel_fetch "$nvcc_wheel"
	wheel_fetch "$runtime_wheel"
	tree=$(echo "$work"/unpacked/nvidia/cu*)
	mkdir "$work/cuda" "$work/cuda/bin"
	mv "$tree/bin/ptxas" "$work/cuda/bin/ptxas"
	chmod 755 "$work/cuda/bin/ptxas"
	mv "$tree/include" "$work/cuda/include"
	ptxas_fits "$work/cuda/bin/ptxas" || die "the ptxas of $nvcc_wheel does not run here"
	[ -f "$work/cuda/include/cuda.h" ] || die "$runtime_wheel brought no cuda.h"
	rm -rf "$local_cuda"
	mv "$work/cuda" "$local_cuda"
}

cuda_setup()
{
	if ptxas_fits "$local_cuda/bin/ptxas" && [ -f "$local_cuda/include/cuda.h" ]; then
		say "ptxas in $local_cuda"
		return
	fi
	if [ "${DSLC_IGNORE_SYSTEM_CUDA:-0}" != 1 ] && [ -n "$(ptxas_find)" ] &&
		[ -n "$(header_find)" ]; then
		say "ptxas is $(ptxas_find)"
		return
	fi
	cuda_fetch
	say "ptxas in $local_cuda"
}

# shellcheck disable=SC2086
packages_install $packages
# python.kernel checks the annotations where it is there.
(packages_install mypy) || say "no mypy"
cuda_setup
say "done"
