# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Which room may include what. A room is compiled with one include root, build/include/<room>,
# a tree of links that holds the room itself and the public headers of the rooms it may see;
# any other project header is not found.
#   dsl_room(target room)                the target is (a part or a test of) that room
set(DSL_PUBLIC_base base.h ptrmap.h)
set(DSL_PUBLIC_layout layout.h ix.h banks.h)
set(DSL_PUBLIC_ir ir.h schedule.h)
set(DSL_PUBLIC_frontend frontend.h)
set(DSL_PUBLIC_passes passes.h)
set(DSL_PUBLIC_verify check.h)
set(DSL_PUBLIC_codegen codegen.h json.h spawn.h)
set(DSL_PUBLIC_runtime dsl.h desc.h kdesc.h elem.h number.h tensors.h gpu.h cost.h)
set(DSL_PUBLIC_sim watch.h)
set(DSL_PUBLIC_check problem.h)
set(DSL_PUBLIC_driver dslc.h)

set(DSL_ELEMS runtime/elem.h runtime/elems.def runtime/number.h runtime/swizzle.h
	runtime/swizzles.def)
set(DSL_SEES_base)
set(DSL_SEES_layout base base/ctx.h)
set(DSL_SEES_ir base layout base/ctx.h runtime/held.def ${DSL_ELEMS})
set(DSL_SEES_frontend base layout ir ${DSL_ELEMS})
set(DSL_SEES_passes base layout ir ${DSL_ELEMS})
set(DSL_SEES_verify base layout ir ${DSL_ELEMS})
set(DSL_SEES_codegen base layout ir runtime/kdesc.h runtime/cost.h runtime/variants.def ${DSL_ELEMS})
set(DSL_SEES_runtime)
set(DSL_SEES_sim runtime runtime/rt.h runtime/device_ops.def)
set(DSL_SEES_check base layout ir runtime)
set(DSL_SEES_driver base layout ir check frontend passes verify codegen runtime sim)
set(DSL_SEES_python driver runtime)

# A header that does not exist yet is linked all the same, so that adding it needs no configure.
function(dsl_link_header root path)
	get_filename_component(folder ${path} DIRECTORY)
	file(MAKE_DIRECTORY "${root}/${folder}")
	file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${path}" "${root}/${path}" SYMBOLIC)
endfunction()

# Tables (.def) belong to the public face of a room: its headers and its readers include them.
function(dsl_link_public root room)
	foreach(header IN LISTS DSL_PUBLIC_${room})
		dsl_link_header(${root} ${room}/${header})
	endforeach()
	file(GLOB tables RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
		"${PROJECT_SOURCE_DIR}/${room}/*.def" "${PROJECT_SOURCE_DIR}/${room}/*/*.def")
	foreach(table IN LISTS tables)
		dsl_link_header(${root} ${table})
	endforeach()
endfunction()

function(dsl_room_root room)
	set(root "${PROJECT_BINARY_DIR}/include/${room}")
	file(REMOVE_RECURSE "${root}")
	file(MAKE_DIRECTORY "${root}")
	file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${room}" "${root}/${room}" SYMBOLIC)
	foreach(seen IN LISTS DSL_SEES_${room})
		if(seen MATCHES "/")
			dsl_link_header(${root} ${seen})
		else()
			dsl_link_public(${root} ${seen})
		endif()
	endforeach()
endfunction()

# Host programs (examples) see what an installation has: <dsl.h>, <dslc.h> and what they include.
function(dsl_host_root)
	set(root "${PROJECT_BINARY_DIR}/include/host")
	file(MAKE_DIRECTORY "${root}")
	foreach(header IN ITEMS dsl.h status.def)
		file(CREATE_LINK "${PROJECT_SOURCE_DIR}/runtime/${header}" "${root}/${header}" SYMBOLIC)
	endforeach()
	file(CREATE_LINK "${PROJECT_SOURCE_DIR}/driver/dslc.h" "${root}/dslc.h" SYMBOLIC)
endfunction()

foreach(room IN ITEMS base layout ir frontend passes verify codegen runtime sim check driver python)
	dsl_room_root(${room})
endforeach()
dsl_host_root()

function(dsl_room target room)
	target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/include/${room}")
	dsl_target_defaults(${target})
endfunction()
