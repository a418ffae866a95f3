# Tests in C: one cmocka program is one ctest, named room.noun.
#   dsl_test(ir.layout SOURCES layout.c LIBS dsl_ir)           sees what the room sees
#   dsl_test(e2e.run ROOM driver SOURCES run.c LIBS dslc_lib)  sees what another room sees
#   dsl_fuzzer(gemm ROOM frontend SOURCES gemm.c LIBS dsl_frontend)   in the fuzz preset only
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

function(dsl_fuzzer name)
	cmake_parse_arguments(T "" "ROOM" "SOURCES;LIBS" ${ARGN})
	if(NOT DSLC_FUZZ)
		return()
	endif()
	add_executable(fuzz_${name} ${T_SOURCES})
	dsl_room(fuzz_${name} ${T_ROOM})
	target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
	target_link_libraries(fuzz_${name} PRIVATE ${T_LIBS})
endfunction()
