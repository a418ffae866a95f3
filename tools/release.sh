#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes a release: checks, artefacts that are the same whoever makes them, a tag.
#   tools/release.sh VERSION          e.g. tools/release.sh 0.2.0
# VERSION is that of CMakeLists.txt; CHANGELOG.md has a section "## VERSION". Everything is built in
# build/release-VERSION from the commit alone; there the artefacts are, with SHA256SUMS. The tag is made
# last, and pushed by hand.
set -eu
cd "$(dirname -- "$0")/.."
[ $# = 1 ] || { sed -n '2,/^set/{/SPDX/d;s/^# //p}' "$0" >&2; exit 2; }
version=$1
out=$PWD/build/release-$version

die()
{
	echo "release: error: $*" >&2
	exit 1
}

[ -z "$(git status --porcelain)" ] || die "the tree has changes that no commit has"
grep -q "^project(dslc VERSION $version " CMakeLists.txt || die "CMakeLists.txt has another version"
grep -q "^## $version" CHANGELOG.md || die "CHANGELOG.md has no section ## $version"
git rev-parse -q --verify "refs/tags/v$version" >/dev/null && die "v$version is tagged already"

# Times in archives are that of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out"
git archive --prefix="dslc-$version/" HEAD | gzip -9n >"$out/dslc-$version.tar.gz"
tar -C "$out" -xzf "$out/dslc-$version.tar.gz"
cd "$out/dslc-$version"
tools/setup.sh
cmake --preset package
cmake --build --preset package
ctest --test-dir build/package -j "$(nproc)" --output-on-failure
(cd build/package && cpack)
cmake --build --preset package --target dslc_wheel
mv build/package/*.deb build/package/wheel/*.whl "$out"
cd "$out"
rm -rf "dslc-$version"
sha256sum ./*.tar.gz ./*.deb ./*.whl >SHA256SUMS
cat SHA256SUMS
git -C "$out" tag -a "v$version" -m "dslc $version"
echo "release: tagged v$version; push it, and put the files of $out beside it"
