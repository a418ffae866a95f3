# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests in C: one cmocka program is one ctest, named room.noun.
#   dsl_test(ir.text SOURCES text.c LIBS dsl_ir)               sees what the room sees
#   dsl_test(e2e.run ROOM driver SOURCES run.c LIBS dslc_lib)  sees what another room sees
#   dsl_bad(e2e.bad a.gemm ... OPTIONS --only=rings)   each is refused as its comments say (tests/bad.sh)
#   dsl_quick(SLOW)                 the folder's tests have the label "quick", but for those that SLOW matches
#   dsl_many_runs()                 the folder's tests do not look for leaks, and share what ptxas made
#   dsl_fuzzer(ir ROOM ir SOURCES fuzz_ir.c LIBS dsl_ir CORPUS tests/ir)   a fuzz entry point
find_library(DSLC_CMOCKA cmocka REQUIRED)
find_program(DSLC_FILECHECK NAMES FileCheck-22 FileCheck HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

function(dsl_test name)
	cmake_parse_arguments(T "" "ROOM" "SOURCES;LIBS" ${ARGN})
	if(NOT T_ROOM)
		string(REGEX REPLACE "\\..*" "" T_ROOM ${name})
	endif()
	string(REPLACE "." "_" target "test_${name}")
	add_executable(${target} ${T_SOURCES})
	dsl_room(${target} ${T_ROOM})
	target_link_libraries(${target} PRIVATE ${T_LIBS} ${DSLC_CMOCKA})
	target_compile_definitions(${target} PRIVATE DSL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
	add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
	set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()

function(dsl_bad prefix)
	cmake_parse_arguments(B "" "" "OPTIONS" ${ARGN})
	foreach(file IN LISTS B_UNPARSED_ARGUMENTS)
		get_filename_component(name ${file} NAME_WE)
		add_test(NAME ${prefix}.${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/bad.sh"
			$<TARGET_FILE:dslc> "${file}" ${B_OPTIONS})
	endforeach()
endfunction()

# In the fuzz preset a libFuzzer program and its seeds; elsewhere a test that replays the seeds.
function(dsl_fuzzer name)
	cmake_parse_arguments(T "" "ROOM" "SOURCES;LIBS;CORPUS" ${ARGN})
	if(DSLC_FUZZ)
		set(target fuzz_${name})
		add_executable(${target} ${T_SOURCES})
		target_link_options(${target} PRIVATE -fsanitize=fuzzer)
		list(JOIN T_CORPUS "\n" seeds)
		file(WRITE "${PROJECT_BINARY_DIR}/seeds/${name}" "${seeds}\n")
	else()
		set(target replay_${name})
		add_executable(${target} ${T_SOURCES} "${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c")
		add_test(NAME fuzz.${name} COMMAND ${target} ${T_CORPUS})
	endif()
	dsl_room(${target} ${T_ROOM})
	target_link_libraries(${target} PRIVATE ${T_LIBS})
endfunction()

# ctest -L quick: what says soon whether a change is right at all; under 30 s on two idle cores.
# For folders that run dslc thousands of times: they leave looking for leaks, which takes 7 to 13 ms of each run, to
# the others, whose tests run the same code, and take from ptxas once what it makes of a PTX text.
file(REMOVE_RECURSE "${PROJECT_BINARY_DIR}/ptxas_kept")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/ptxas_kept")
function(dsl_many_runs)
	get_property(names DIRECTORY PROPERTY TESTS)
	foreach(name IN LISTS names)
		set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT_MODIFICATION
			"ASAN_OPTIONS=string_append::detect_leaks=0"
			"DSLC_PTXAS=set:$<TARGET_FILE:ptxas_once>"
			"DSLC_PTXAS_REAL=set:${DSLC_PTXAS_PROGRAM}"
			"DSLC_PTXAS_KEPT=set:${PROJECT_BINARY_DIR}/ptxas_kept")
	endforeach()
endfunction()

function(dsl_quick slow)
	get_property(names DIRECTORY PROPERTY TESTS)
	foreach(name IN LISTS names)
		if(NOT name MATCHES "${slow}")
			set_property(TEST ${name} APPEND PROPERTY LABELS quick)
		endif()
	endforeach()
endfunction()
