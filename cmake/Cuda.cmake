# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Where ptxas and cuda.h are: in build/cuda, where tools/setup.sh puts them on a machine that
# has none that fit; else $DSLC_PTXAS, $CUDA_HOME, PATH, /usr/local/cuda*, in this order.
# DSLC_IGNORE_SYSTEM_CUDA=1 in the environment leaves build/cuda as the only place.
#   DSLC_PTXAS_PROGRAM     the assembler found; tests find it in $DSLC_PTXAS where it is ours
#   dsl_cuda_headers       interface target with the folder of cuda.h
set(DSLC_LOCAL_CUDA "${PROJECT_SOURCE_DIR}/build/cuda" CACHE PATH "CUDA that setup.sh fetched")

if(EXISTS "${DSLC_LOCAL_CUDA}/bin/ptxas" OR "$ENV{DSLC_IGNORE_SYSTEM_CUDA}")
	set(cuda_search PATHS "${DSLC_LOCAL_CUDA}" NO_DEFAULT_PATH)
else()
	file(GLOB cuda_installed LIST_DIRECTORIES true "/usr/local/cuda*")
	set(cuda_search HINTS ENV CUDA_HOME PATHS ${cuda_installed})
	if(DEFINED ENV{DSLC_PTXAS})
		set(DSLC_PTXAS_PROGRAM "$ENV{DSLC_PTXAS}" CACHE FILEPATH "the assembler")
	endif()
endif()
find_program(DSLC_PTXAS_PROGRAM ptxas ${cuda_search} PATH_SUFFIXES bin)
find_path(DSLC_CUDA_INCLUDE cuda.h ${cuda_search}
	PATH_SUFFIXES include targets/x86_64-linux/include)
if((DSLC_TESTS AND NOT DSLC_PTXAS_PROGRAM) OR NOT DSLC_CUDA_INCLUDE)
	message(FATAL_ERROR "ptxas or cuda.h not found: run tools/setup.sh, which fetches them")
endif()
message(STATUS "ptxas ${DSLC_PTXAS_PROGRAM}, cuda.h in ${DSLC_CUDA_INCLUDE}")

add_library(dsl_cuda_headers INTERFACE)
target_include_directories(dsl_cuda_headers SYSTEM INTERFACE ${DSLC_CUDA_INCLUDE})

file(WRITE "${PROJECT_BINARY_DIR}/test_env.cmake"
	"set(ENV{DSLC_PTXAS} \"${DSLC_PTXAS_PROGRAM}\")\n")
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${PROJECT_BINARY_DIR}/test_env.cmake")
