# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Debian packages, one for each component of Install.cmake:
#   cpack --config build/package/CPackConfig.cmake      (tools/check-packages.sh builds and tries them)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dslc)
set(CPACK_PACKAGE_VENDOR "the dslc authors")
set(CPACK_PACKAGE_CONTACT "the dslc authors <dslc@invalid>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
	GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# dsl_package(component DESCRIPTION "line" DEPENDS packages RECOMMENDS packages)
function(dsl_package component)
	cmake_parse_arguments(P "" "DESCRIPTION;DEPENDS;RECOMMENDS;SECTION" "" ${ARGN})
	string(TOUPPER ${component} id)
	list(APPEND CPACK_COMPONENTS_ALL ${component})
	set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
	set(CPACK_DEBIAN_${id}_PACKAGE_NAME ${component} PARENT_SCOPE)
	set(CPACK_DEBIAN_${id}_PACKAGE_DEPENDS "${P_DEPENDS}" PARENT_SCOPE)
	set(CPACK_DEBIAN_${id}_PACKAGE_RECOMMENDS "${P_RECOMMENDS}" PARENT_SCOPE)
	set(CPACK_DEBIAN_${id}_PACKAGE_SECTION "${P_SECTION}" PARENT_SCOPE)
	set(CPACK_DEBIAN_${id}_DESCRIPTION "${P_DESCRIPTION}" PARENT_SCOPE)
	set(CPACK_COMPONENT_${id}_DESCRIPTION "${P_DESCRIPTION}" PARENT_SCOPE)
endfunction()

set(same "(= ${PROJECT_VERSION})")
set(CPACK_COMPONENTS_ALL)
dsl_package(dslc SECTION devel
	DESCRIPTION "compiler for a small language of Hopper GEMM kernels
 The tool dslc: .gemm files become cubins, proved free of hangs and races, which a
 simulator runs where there is no GPU. ptxas of CUDA 12.9 or later is needed, and not part of it.")
dsl_package(libdsl-runtime${DSLC_ABI} SECTION libs
	DESCRIPTION "loads and launches the cubins that dslc writes
 Needs no CUDA where it is installed; libcuda is found when a GPU is opened.")
dsl_package(libdsl-runtime-dev SECTION libdevel DEPENDS "libdsl-runtime${DSLC_ABI} ${same}"
	DESCRIPTION "launching cubins of dslc from C: headers and static library
 Header, static library, pkg-config file and find_package(dslc).")
dsl_package(libdslc${DSLC_ABI} SECTION libs
	DESCRIPTION "the compiler dslc as a library
 Compiles kernels in a program; LLVM is inside.")
dsl_package(libdslc-dev SECTION libdevel RECOMMENDS "dslc ${same}"
	DEPENDS "libdslc${DSLC_ABI} ${same}, libdsl-runtime-dev ${same}"
	DESCRIPTION "the compiler dslc as a library: header
 Header and pkg-config file of libdslc.")
foreach(library IN ITEMS DSL-RUNTIME DSLC)
	set(CPACK_DEBIAN_LIB${library}${DSLC_ABI}_PACKAGE_CONTROL_EXTRA
		"${PROJECT_SOURCE_DIR}/packaging/triggers")
endforeach()
include(CPack)
