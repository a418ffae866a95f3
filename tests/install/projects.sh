#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# examples/with-cmake and examples/with-make as a user has them: copied away, built against an
# installation that was moved, run on the simulator.
. "$(dirname "$0")/lib.sh"
mv "$prefix" "$scratch/moved"
lib=$scratch/moved/${lib#"$prefix/"}
prefix=$scratch/moved
export PKG_CONFIG_PATH="$lib/pkgconfig" PATH="$prefix/bin:$PATH" LD_LIBRARY_PATH="$lib"
cp -r "$prefix"/share/doc/dslc/examples "$scratch/examples"
try "$prefix/bin/dslc" check "$scratch/examples/gallery/grouped.gemm"
[ -f "$scratch/examples/gallery/grouped.py" ] && [ -f "$prefix/share/doc/dslc/docs/gallery.md" ] || fail "the gallery is not complete"

# Each page that an installed page links to is installed.
(cd "$prefix/share/doc/dslc" && find . -name '*.md' -exec grep -oH '](\([^):#]*/\)*[^):#/]*\.md' {} +) |
	sed 's/:](/ /' >"$scratch/links"
[ -s "$scratch/links" ] || fail "no page is installed"
while read -r page link; do
	[ -f "$prefix/share/doc/dslc/${page%/*}/$link" ] || fail "$page links to $link, which is not installed"
done <"$scratch/links"

cd "$scratch/examples/with-cmake"
try cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
	-DCMAKE_C_FLAGS="$flags"
try cmake --build build
try build/product sim
said ': 0 of 27200 elements are wrong'
try cmake --build build
said 'no work to do'
touch product.gemm
try cmake --build build
said 'Compiling kernels of product'

# The static runtime: no library of ours is needed.
sed -i 's/^dslc_add/target_link_libraries(product PRIVATE dslc::runtime_static)\n&/' CMakeLists.txt
try cmake --build build
readelf -d build/product | grep -q 'NEEDED.*dsl' && fail "the static program needs libdsl_runtime.so"
try build/product sim

# Two files of one name, or one file twice, are one array.
cp CMakeLists.txt kept
echo 'dslc_add_kernels(product SOURCES ./product.gemm DEFINES bN=128)' >>CMakeLists.txt
cmake -S . -B build >"$scratch/log" 2>&1 && fail "one name was taken twice"
said 'product has a kernel file product already'

# The array is C.
sed 's/ C)/ CXX)/; s/main\.c/main.cpp/' kept >CMakeLists.txt
echo 'int main() {}' >main.cpp
cmake -S . -B build.cxx -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log" 2>&1 && fail "a project without C was taken"
said 'LANGUAGES C CXX'
mv kept CMakeLists.txt

# What is missing is said.
sed -i 's/COMPONENTS compiler/COMPONENTS painter compiler/' CMakeLists.txt
cmake -S . -B build >"$scratch/log" 2>&1 && fail "a component that does not exist was found"
said painter

cd ../with-make
try make CC="$cc" CFLAGS="$flags"
try ./embed sim
said ': 0 of 27200 elements are wrong'
readelf -d host-static | grep -q 'NEEDED.*dsl' && fail "host-static needs libdsl_runtime.so"
try ./host-static gemm.cubin sim
said ": 0 of 260000 elements are wrong"
