# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dsl_ptx_text(FILE SYMBOL TO): FILE as the C string SYMBOL, its comments left out, in a source that is
# appended to the list TO.
function(dsl_ptx_text file symbol to)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
	file(STRINGS ${file} lines)
	set(text "")
	foreach(line IN LISTS lines)
		string(REPLACE "\\;" ";" line "${line}")
		string(STRIP "${line}" line)
		if(NOT line MATCHES "^//" AND NOT line STREQUAL "")
			string(APPEND text "\t\"${line}\\n\"\n")
		endif()
	endforeach()
	file(CONFIGURE OUTPUT ${symbol}.c CONTENT "/* from ${file} */
extern const char ${symbol}[];
const char ${symbol}[] =
${text}\t;
" @ONLY)
	set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c PROPERTIES
		COMPILE_OPTIONS -Wno-overlength-strings)
	set(${to} ${${to}} ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c PARENT_SCOPE)
endfunction()
