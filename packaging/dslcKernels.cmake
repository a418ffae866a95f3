# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Kernels as sources of a target:
#   dslc_add_kernels(app SOURCES gemm.gemm blend.gemm DEFINES bN=128 roles=pingpong)
# For each FILE.gemm the target gets FILE.h, the typed launchers, and FILE_cubin, an array with the
# cubin; it is compiled again when the source or dslc changes. OPTIONS go to dslc as they are
# (-lineinfo, -Xptxas=..); links dslc::runtime unless the target links dslc::runtime_static already.
function(dslc_add_kernels target)
	cmake_parse_arguments(PARSE_ARGV 1 K "" "" "SOURCES;DEFINES;OPTIONS")
	if(NOT TARGET dslc::dslc)
		message(FATAL_ERROR "dslc_add_kernels: the compiler is not installed, or "
			"find_package(dslc COMPONENTS compiler) was not called")
	endif()
	if(NOT K_SOURCES OR K_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "dslc_add_kernels(target SOURCES a.gemm ... [DEFINES NAME=VALUE ...] "
			"[OPTIONS ...])")
	endif()
	get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
	if(NOT "C" IN_LIST languages)
		message(FATAL_ERROR "dslc_add_kernels: the cubin is an array in C: project(... LANGUAGES C CXX)")
	endif()
	set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels")
	file(MAKE_DIRECTORY "${folder}")
	list(TRANSFORM K_DEFINES PREPEND "-D")
	foreach(source IN LISTS K_SOURCES)
		get_filename_component(source "${source}" ABSOLUTE)
		get_filename_component(name "${source}" NAME_WE)
		set(out "${folder}/${name}")
		get_target_property(already ${target} SOURCES)
		if("${out}.c" IN_LIST already)
			message(FATAL_ERROR "dslc_add_kernels: ${target} has a kernel file ${name} already; "
				"${name}.h and ${name}_cubin are called after it: give the other one another name")
		endif()
		add_custom_command(OUTPUT "${out}.h" "${out}.c"
			COMMAND dslc::dslc -q --emit=header,c ${K_DEFINES} ${K_OPTIONS}
				-MF "${out}.d" -MT "${out}.h" -o "${out}" "${source}"
			MAIN_DEPENDENCY "${source}" DEPENDS dslc::dslc DEPFILE "${out}.d"
			COMMENT "Compiling kernels of ${name}" VERBATIM)
		target_sources(${target} PRIVATE "${out}.h" "${out}.c")
	endforeach()
	target_include_directories(${target} PRIVATE "${folder}")
	get_target_property(linked ${target} LINK_LIBRARIES)
	if(NOT "dslc::runtime_static" IN_LIST linked)
		target_link_libraries(${target} PRIVATE dslc::runtime)
	endif()
endfunction()
