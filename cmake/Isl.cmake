# isl, which decides questions on quasi-affine maps, as archives, so that no program needs it where
# it runs: dsl_isl.
find_path(DSLC_ISL_INCLUDE isl/map.h REQUIRED)
find_library(DSLC_ISL libisl.a REQUIRED)
find_library(DSLC_GMP libgmp.a REQUIRED)

add_library(dsl_isl INTERFACE)
target_include_directories(dsl_isl SYSTEM INTERFACE ${DSLC_ISL_INCLUDE})
target_link_libraries(dsl_isl INTERFACE ${DSLC_ISL} ${DSLC_GMP})
