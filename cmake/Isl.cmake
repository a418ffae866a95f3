# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# isl, which decides questions on quasi-affine maps, as archives, so that no program needs it where
# it runs: dsl_isl. Debian compiles them for programs, not for shared libraries; all that stands in
# the way of libdslc is how they address stderr, so they get it by another name.
find_path(DSLC_ISL_INCLUDE isl/map.h REQUIRED)
find_library(DSLC_ISL libisl.a REQUIRED)
find_library(DSLC_GMP libgmp.a REQUIRED)

function(dsl_archive_for_shared out archive)
	get_filename_component(name ${archive} NAME)
	set(copy "${PROJECT_BINARY_DIR}/isl/${name}")
	if(NOT EXISTS "${copy}" OR "${archive}" IS_NEWER_THAN "${copy}")
		file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/isl")
		execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym stderr=dsl_isl_stderr
			${archive} ${copy} COMMAND_ERROR_IS_FATAL ANY)
	endif()
	set(${out} "${copy}" PARENT_SCOPE)
endfunction()

dsl_archive_for_shared(isl_archive ${DSLC_ISL})
dsl_archive_for_shared(gmp_archive ${DSLC_GMP})
add_library(dsl_isl_stderr STATIC "${PROJECT_SOURCE_DIR}/passes/isl/stderr.c")
dsl_target_defaults(dsl_isl_stderr)
add_library(dsl_isl INTERFACE)
target_include_directories(dsl_isl SYSTEM INTERFACE ${DSLC_ISL_INCLUDE})
target_link_libraries(dsl_isl INTERFACE ${isl_archive} ${gmp_archive} dsl_isl_stderr)
