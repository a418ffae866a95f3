# Where ptxas and cuda.h are. Searched in this order: $DSLC_PTXAS, $CUDA_HOME, PATH,
# /usr/local/cuda*, and last build/cuda, where tools/setup puts them on a machine that has
# none. DSLC_IGNORE_SYSTEM_CUDA=1 in the environment leaves build/cuda as the only place.
#   DSLC_PTXAS_PROGRAM     the assembler found
#   dsl_cuda_headers       interface target with the folder of cuda.h
set(DSLC_LOCAL_CUDA "${PROJECT_SOURCE_DIR}/build/cuda" CACHE PATH "CUDA that tools/setup fetched")

set(cuda_roots)
if(NOT "$ENV{DSLC_IGNORE_SYSTEM_CUDA}")
	file(GLOB installed LIST_DIRECTORIES true "/usr/local/cuda*")
	list(APPEND cuda_roots "$ENV{CUDA_HOME}" ${installed})
	set(cuda_path_flag)
else()
	set(cuda_path_flag NO_DEFAULT_PATH)
endif()
list(APPEND cuda_roots "${DSLC_LOCAL_CUDA}")
list(REMOVE_ITEM cuda_roots "")

if(DEFINED ENV{DSLC_PTXAS})
	set(DSLC_PTXAS_PROGRAM "$ENV{DSLC_PTXAS}" CACHE FILEPATH "ptxas")
endif()
find_program(DSLC_PTXAS_PROGRAM ptxas HINTS ${cuda_roots} PATH_SUFFIXES bin ${cuda_path_flag})
find_path(DSLC_CUDA_INCLUDE cuda.h HINTS ${cuda_roots}
	PATH_SUFFIXES include targets/x86_64-linux/include ${cuda_path_flag})
if(NOT DSLC_PTXAS_PROGRAM OR NOT DSLC_CUDA_INCLUDE)
	message(FATAL_ERROR "ptxas or cuda.h not found: run tools/setup, which fetches them")
endif()
message(STATUS "ptxas ${DSLC_PTXAS_PROGRAM}, cuda.h in ${DSLC_CUDA_INCLUDE}")

add_library(dsl_cuda_headers INTERFACE)
target_include_directories(dsl_cuda_headers SYSTEM INTERFACE ${DSLC_CUDA_INCLUDE})
