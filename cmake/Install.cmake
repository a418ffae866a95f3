# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts where, and in which Debian package (component) it goes:
#   dslc               the tool, its manual page and completion
#   libdsl-runtime1    libdsl_runtime.so.1
#   libdsl-runtime-dev dsl.h, libdsl_runtime.a, dsl-runtime.pc, find_package(dslc)
#   libdslc1           libdslc.so.1, with LLVM inside
#   libdslc-dev        dslc.h, dslc.pc
include(CMakePackageConfigHelpers)
set(dsl_cmake "${CMAKE_INSTALL_LIBDIR}/cmake/dslc")
set(dsl_include "${CMAKE_INSTALL_INCLUDEDIR}/dslc")
set(dsl_packaging "${PROJECT_SOURCE_DIR}/packaging")
set(DSLC_ZSH_FOLDER "site-functions" CACHE STRING "Where zsh looks below share/zsh; Debian's packages: vendor-completions")

# The static runtime is one object that shows what dsl.h declares and carries json-c, so that one
# -ldsl_runtime links it.
file(STRINGS "${PROJECT_SOURCE_DIR}/runtime/dsl.h" declared REGEX "^DSL_API .*dsl_[a-z0-9_]+\\(")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/dsl.h")
set(keep --wildcard --keep-global-symbol=*asan*)
foreach(line IN LISTS declared)
	string(REGEX REPLACE ".*[ *](dsl_[a-z0-9_]+)\\(.*" "\\1" name "${line}")
	list(APPEND keep --keep-global-symbol=${name})
endforeach()
set(whole "${PROJECT_BINARY_DIR}/runtime/whole.o")
add_custom_command(OUTPUT "${whole}"
	COMMAND ${CMAKE_LINKER} -r -o "${whole}" --whole-archive $<TARGET_FILE:dsl_runtime>
		--no-whole-archive ${DSLC_JSON_LIBRARY}
	COMMAND ${CMAKE_OBJCOPY} ${keep} "${whole}"
	DEPENDS dsl_runtime)
set_source_files_properties("${whole}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_library(dsl_runtime_whole STATIC "${whole}")
set_target_properties(dsl_runtime_whole PROPERTIES OUTPUT_NAME dsl_runtime LINKER_LANGUAGE C
	ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/runtime/whole")
target_link_libraries(dsl_runtime_whole INTERFACE m pthread dl)

set(parts Tool Runtime Compiler)
set(Tool_targets dslc)
set(Runtime_targets dsl_runtime_shared dsl_runtime_whole)
set(Compiler_targets dslc_shared)
set(Tool_component dslc)
set(Runtime_component libdsl-runtime)
set(Compiler_component libdslc)
set_target_properties(dslc PROPERTIES EXPORT_NAME dslc)
set_target_properties(dsl_runtime_shared PROPERTIES EXPORT_NAME runtime)
set_target_properties(dsl_runtime_whole PROPERTIES EXPORT_NAME runtime_static)
set_target_properties(dslc_shared PROPERTIES EXPORT_NAME compiler)
foreach(target IN LISTS Tool_targets Runtime_targets Compiler_targets)
	# As find_package(dslc) calls them, for projects that have this one as a folder of theirs.
	get_target_property(name ${target} EXPORT_NAME)
	get_target_property(type ${target} TYPE)
	if(type STREQUAL EXECUTABLE)
		add_executable(dslc::${name} ALIAS ${target})
	else()
		add_library(dslc::${name} ALIAS ${target})
		target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include/host>")
	endif()
endforeach()
include("${dsl_packaging}/dslcKernels.cmake")
foreach(part IN LISTS parts)
	set(component ${${part}_component})
	set(development ${component}-dev)
	if(part STREQUAL Tool)
		set(development dslc)
	else()
		set(component ${component}${DSLC_ABI})
	endif()
	install(TARGETS ${${part}_targets} EXPORT dslc${part}Targets
		RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component}
		LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
			NAMELINK_COMPONENT ${development}
		ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${development}
		INCLUDES DESTINATION ${dsl_include})
	install(EXPORT dslc${part}Targets NAMESPACE dslc:: DESTINATION ${dsl_cmake}
		COMPONENT ${development})
endforeach()

configure_package_config_file("${dsl_packaging}/dslcConfig.cmake.in"
	"${PROJECT_BINARY_DIR}/dslcConfig.cmake" INSTALL_DESTINATION ${dsl_cmake})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/dslcConfigVersion.cmake"
	COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/dslcConfig.cmake" "${PROJECT_BINARY_DIR}/dslcConfigVersion.cmake"
	"${dsl_packaging}/dslcKernels.cmake" DESTINATION ${dsl_cmake} COMPONENT libdsl-runtime-dev)

# From the folder of a .pc file back to the prefix, so that an installation can be moved.
file(RELATIVE_PATH pc_up "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
configure_file("${dsl_packaging}/dsl-runtime.pc.in" "${PROJECT_BINARY_DIR}/dsl-runtime.pc" @ONLY)
configure_file("${dsl_packaging}/dslc.pc.in" "${PROJECT_BINARY_DIR}/dslc.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/dsl-runtime.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
	COMPONENT libdsl-runtime-dev)
install(FILES "${PROJECT_BINARY_DIR}/dslc.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
	COMPONENT libdslc-dev)

install(FILES runtime/dsl.h runtime/status.def DESTINATION ${dsl_include} COMPONENT libdsl-runtime-dev)
install(FILES driver/dslc.h DESTINATION ${dsl_include} COMPONENT libdslc-dev)
install(FILES "${PROJECT_BINARY_DIR}/driver/manual/dslc.1" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
	COMPONENT dslc)
install(FILES "${PROJECT_BINARY_DIR}/driver/manual/dslc"
	DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT dslc)
install(FILES "${PROJECT_BINARY_DIR}/driver/manual/_dslc"
	DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${DSLC_ZSH_FOLDER} COMPONENT dslc)
install(FILES "${PROJECT_BINARY_DIR}/driver/manual/dslc.fish"
	DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT dslc)
install(DIRECTORY editors DESTINATION ${CMAKE_INSTALL_DATADIR}/dslc COMPONENT dslc)
install(FILES editors/gemm.tmLanguage.json DESTINATION ${CMAKE_INSTALL_DATADIR}/dslc/editors/vscode
	COMPONENT dslc)
# The extension of Visual Studio Code as one file, which `code --install-extension` takes.
set(vsix "${PROJECT_BINARY_DIR}/vsix")
file(GLOB extension CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/editors/vscode/*")
list(APPEND extension "${PROJECT_SOURCE_DIR}/editors/gemm.tmLanguage.json")
configure_file("${dsl_packaging}/extension.vsixmanifest.in" "${vsix}/extension.vsixmanifest" @ONLY)
configure_file("${dsl_packaging}/content_types.xml" "${vsix}/[Content_Types].xml" COPYONLY)
add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/dslc.vsix"
	COMMAND ${CMAKE_COMMAND} -E make_directory "${vsix}/extension"
	COMMAND ${CMAKE_COMMAND} -E copy ${extension} "${vsix}/extension"
	COMMAND ${CMAKE_COMMAND} -E chdir "${vsix}" ${CMAKE_COMMAND} -E tar cf "${PROJECT_BINARY_DIR}/dslc.vsix"
		--format=zip -- extension extension.vsixmanifest "[Content_Types].xml"
	DEPENDS ${extension} "${vsix}/extension.vsixmanifest" VERBATIM)
add_custom_target(dslc_vsix ALL DEPENDS "${PROJECT_BINARY_DIR}/dslc.vsix")
install(FILES "${PROJECT_BINARY_DIR}/dslc.vsix" DESTINATION ${CMAKE_INSTALL_DATADIR}/dslc/editors
	COMPONENT dslc)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dslc
	REGEX "/examples/([a-z]*/)?CMakeLists.txt$" EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dslc)
foreach(component IN ITEMS dslc libdsl-runtime${DSLC_ABI} libdsl-runtime-dev libdslc${DSLC_ABI} libdslc-dev)
	install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${component}
		COMPONENT ${component})
	install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${component} RENAME copyright
		COMPONENT ${component})
endforeach()
