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

# dsl_llvm_own_heap(target)   LLVM's archives that the target needs take their memory from libc, not from ASan, by way
# of codegen/llvm/heap.c: a compilation of 160 ms in the sanitized build takes 105, half of which was the kernel's, for
# pages of ASan's heap that are never used again. The tests that link the shared library look for leaks in LLVM.
function(dsl_llvm_own_heap target)
	set(renamed)
	foreach(name IN ITEMS malloc calloc realloc free)
		list(APPEND renamed --redefine-sym ${name}=__libc_${name})
	endforeach()
	file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/llvm")
	set(left ${target})
	while(left)
		list(POP_FRONT left at)
		list(APPEND seen ${at})
		get_target_property(needed ${at} INTERFACE_LINK_LIBRARIES)
		foreach(library IN LISTS needed)
			if(library MATCHES "^LLVM" AND TARGET ${library} AND NOT library IN_LIST seen AND NOT library IN_LIST left)
				list(APPEND left ${library})
			endif()
		endforeach()
		get_target_property(imported ${at} IMPORTED)
		if(imported)
			get_target_property(archive ${at} LOCATION)
			get_filename_component(name ${archive} NAME)
			set(copy "${PROJECT_BINARY_DIR}/llvm/${name}")
			if("${archive}" IS_NEWER_THAN "${copy}")
				execute_process(COMMAND ${CMAKE_OBJCOPY} ${renamed} --redefine-sym strdup=dsl_llvm_strdup
					${archive} ${copy} COMMAND_ERROR_IS_FATAL ANY)
			endif()
			get_target_property(configs ${at} IMPORTED_CONFIGURATIONS)
			foreach(config IN LISTS configs)
				set_target_properties(${at} PROPERTIES IMPORTED_LOCATION_${config} "${copy}")
			endforeach()
		endif()
	endwhile()
	add_library(dsl_llvm_heap STATIC "${PROJECT_SOURCE_DIR}/codegen/llvm/heap.c")
	dsl_target_defaults(dsl_llvm_heap)
	target_link_libraries(${target} INTERFACE dsl_llvm_heap)
endfunction()

function(dsl_llvm_static)
	add_library(dsl_llvm_archives INTERFACE)
	set_property(TARGET LLVMSupport PROPERTY INTERFACE_LINK_LIBRARIES
		LLVMDemangle ${DSLC_ZLIB} ${DSLC_ZSTD} dl m pthread)
	llvm_map_components_to_libnames(archives core analysis passes bitwriter target nvptxcodegen
		nvptxdesc nvptxinfo)
	target_link_libraries(dsl_llvm_archives INTERFACE ${archives} -l:libstdc++.a)
	target_link_options(dsl_llvm_archives INTERFACE -static-libgcc -Wl,--gc-sections)
	if(DSLC_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
		dsl_llvm_own_heap(dsl_llvm_archives)
	endif()
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
