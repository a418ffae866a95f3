#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A project with dslc as a folder of its own has the targets that find_package(dslc) gives, no tests, and no targets of
# common names; a program finds dsl.h and dslc.h. What these targets build is what the other tests install.
#   subdirectory.sh SOURCE BUILD SCRATCH CC [FLAGS]
set -eu
source=$1 scratch=$3 cc=$4
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
cp "$source"/examples/with-cmake/main.c "$source"/examples/with-cmake/product.gemm .
sed "s,^find_package.*,add_subdirectory($source dslc EXCLUDE_FROM_ALL)," "$source/examples/with-cmake/CMakeLists.txt" >CMakeLists.txt
cat >>CMakeLists.txt <<'END'
add_library(uses OBJECT uses.c)
foreach(name IN ITEMS runtime runtime_static compiler)
	target_include_directories(uses PRIVATE $<TARGET_PROPERTY:dslc::${name},INTERFACE_INCLUDE_DIRECTORIES>)
endforeach()
function(look_at folder)
	get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
	get_property(tests DIRECTORY ${folder} PROPERTY TESTS)
	list(FILTER targets EXCLUDE REGEX "^(dsl.*|[a-z_]*_gen|product|uses)$") # _gen: LLVM's
	if(tests OR targets)
		message(FATAL_ERROR "${folder}: ${targets} ${tests}")
	endif()
	get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
	foreach(each IN LISTS folders)
		look_at(${each})
	endforeach()
endfunction()
look_at(${CMAKE_CURRENT_SOURCE_DIR})
END
printf '#include <dsl.h>\n#include <dslc.h>\n' >uses.c
cmake -S . -B build -G Ninja -DCMAKE_C_COMPILER="$cc" >log 2>&1 || { cat log; exit 1; }
ninja -C build CMakeFiles/uses.dir/uses.c.o >log 2>&1 || { cat log; exit 1; }

# What is packed contains no tests.
(cd "$source" && cmake --preset package -B "$scratch/package" -DCMAKE_C_COMPILER="$cc") >log 2>&1 || { cat log; exit 1; }
ninja -C package -t targets all >log
grep -q '^runtime/libdsl_runtime.a:' log
! grep '^\(tests\|examples\)/' log
