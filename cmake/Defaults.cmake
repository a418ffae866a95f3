# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What every target of the project is compiled with.
#   dsl_target_defaults(target)          C11, warnings as errors, sanitizers where asked
#   dsl_relax_generated(file...)         fewer warnings for what flex and bison write
set(DSLC_RELEASE_FLAGS "-O2 -DNDEBUG" CACHE STRING "what a release build is compiled with")
set(CMAKE_C_FLAGS_RELEASE "${DSLC_RELEASE_FLAGS}")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# What links LLVM's archives takes GNU ld 2.1 s of CPU, lld 0.5; there are over a hundred such programs.
find_program(DSLC_LLD ld.lld)
if(DSLC_LLD)
	add_link_options(-fuse-ld=lld)
endif()

function(dsl_target_defaults target)
	set_target_properties(${target} PROPERTIES
		C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
	target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
	target_compile_options(${target} PRIVATE
		-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes
		-Wmissing-prototypes -Wvla -Wno-sign-conversion -Werror)
	# Where the sources lie shows in no binary.
	target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>"
		"$<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_BINARY_DIR}/=>")
	if(DSLC_SANITIZE)
		# ASan sees what these look for, when it happens: an address that is computed wrongly, when it is used. The
		# check of each sum of a pointer and an offset is 6 to 9 % of a run on the simulator; clang's, of the fuzz preset, stays.
		target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize=null,object-size
			$<$<C_COMPILER_ID:GNU>:-fno-sanitize=pointer-overflow> -fno-sanitize-recover=all -fno-omit-frame-pointer)
		target_link_options(${target} PUBLIC -fsanitize=address,undefined)
		# What UBSan finds stops the program, and ASan says where (handle_sigill in CMakePresets.json):
		# a line for each check would be 53,000 globals that ASan registers whenever dslc starts.
		if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
			target_compile_options(${target} PRIVATE -fsanitize-undefined-trap-on-error)
		endif()
	endif()
	if(DSLC_FUZZ)
		target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
	endif()
endfunction()

function(dsl_relax_generated)
	set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS
		-Wno-conversion -Wno-sign-conversion -Wno-sign-compare -Wno-shadow
		-Wno-missing-prototypes -Wno-unused-function -Wno-unused-parameter
		-Wno-unused-but-set-variable)
endfunction()
