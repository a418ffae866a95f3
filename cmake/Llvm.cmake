# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# LLVM 22 as one target, dsl_llvm: the shared library, or (DSLC_LLVM_STATIC) the archives that
# NVPTX needs. Static archives ask for zlib and zstd, which are taken as archives too, so that
# the result needs glibc alone; what only unused members ask for (z3, libxml2) is left out.
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

add_library(dsl_llvm INTERFACE)
target_include_directories(dsl_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})

function(dsl_llvm_static)
	find_library(DSLC_ZLIB libz.a REQUIRED)
	find_library(DSLC_ZSTD libzstd.a REQUIRED)
	set_property(TARGET LLVMSupport PROPERTY INTERFACE_LINK_LIBRARIES
		LLVMDemangle ${DSLC_ZLIB} ${DSLC_ZSTD} dl m pthread)
	llvm_map_components_to_libnames(archives core analysis passes bitwriter target nvptxcodegen
		nvptxdesc nvptxinfo)
	target_link_libraries(dsl_llvm INTERFACE ${archives} -l:libstdc++.a)
	target_link_options(dsl_llvm INTERFACE -static-libgcc -Wl,--gc-sections)
endfunction()

if(DSLC_LLVM_STATIC)
	dsl_llvm_static()
else()
	target_link_libraries(dsl_llvm INTERFACE LLVM)
endif()
