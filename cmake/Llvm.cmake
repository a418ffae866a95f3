# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# LLVM 22 as one target, dsl_llvm: the shared library, or the archives that NVPTX needs, for all
# (DSLC_LLVM_STATIC) or for targets that say so. Static archives ask for zlib and zstd, which are
# taken as archives too, so that the result needs glibc alone; what only unused members ask for
# (z3, libxml2) is left out.
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

add_library(dsl_llvm INTERFACE)
target_include_directories(dsl_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})

# Archives that dsl_llvm_archives needs beside LLVM's own.
find_library(DSLC_ZLIB libz.a)
find_library(DSLC_ZSTD libzstd.a)

function(dsl_llvm_static)
	add_library(dsl_llvm_archives INTERFACE)
	set_property(TARGET LLVMSupport PROPERTY INTERFACE_LINK_LIBRARIES
		LLVMDemangle ${DSLC_ZLIB} ${DSLC_ZSTD} dl m pthread)
	llvm_map_components_to_libnames(archives core analysis passes bitwriter target nvptxcodegen
		nvptxdesc nvptxinfo)
	target_link_libraries(dsl_llvm_archives INTERFACE ${archives} -l:libstdc++.a)
	target_link_options(dsl_llvm_archives INTERFACE -static-libgcc -Wl,--gc-sections)
endfunction()

if(DSLC_ZLIB AND DSLC_ZSTD AND TARGET LLVMNVPTXCodeGen)
	dsl_llvm_static()
endif()
if(DSLC_LLVM_STATIC)
	if(NOT TARGET dsl_llvm_archives)
		message(FATAL_ERROR "DSLC_LLVM_STATIC needs LLVM's archives, libz.a and libzstd.a")
	endif()
	target_link_libraries(dsl_llvm INTERFACE dsl_llvm_archives)
else()
	target_link_libraries(dsl_llvm INTERFACE $<IF:$<BOOL:$<TARGET_PROPERTY:DSLC_LLVM_ARCHIVES>>,dsl_llvm_archives,LLVM>)
endif()

# dsl_starts_often(target)   takes the archives also where others take the shared library, if there
# are such: a process that relocates none of it starts in two thirds of the time. With sanitizers it
# lies at a fixed address with their runtime inside, so that 300,000 places in LLVM need no relocation
# either: half of what is left. It shows the runtime to the modules that it opens (dsl_module_of_tests).
function(dsl_starts_often target)
	if(TARGET dsl_llvm_archives)
		set_target_properties(${target} PROPERTIES DSLC_LLVM_ARCHIVES ON)
	endif()
	if(DSLC_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
		target_link_options(${target} PRIVATE -no-pie -static-libasan -static-libubsan
			"-Wl,--export-dynamic-symbol=__asan_*" "-Wl,--export-dynamic-symbol=__ubsan_*")
	endif()
endfunction()

# dsl_module_of_tests(target)   a module for programs with either runtime of the sanitizers: it names none
function(dsl_module_of_tests target)
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		set_property(TARGET ${target} PROPERTY LINK_OPTIONS "")
	endif()
endfunction()
