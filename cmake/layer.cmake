# Most of the compile time of a source file is in templates of libraries that its neighbours use too.
option(FUSELAGE_UNITY_BUILD "Compile the source files of a folder together" ON)

# fuselage_unite(TARGET REGEX): compiles the sources of each folder together, as one unit, except those whose
# path matches a regular expression that is not empty.
function(fuselage_unite target alone)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${FUSELAGE_UNITY_BUILD} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    if(alone AND path MATCHES "${alone}")
      continue()
    endif()
    cmake_path(GET path PARENT_PATH folder)
    string(REPLACE "/" "_" room ${folder})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
  endforeach()
  # A class of a header may have members of types that only its source file has.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# fuselage_precompile(TARGET COLD HEADER): nearly all sources include these headers, and reading them takes a
# quarter of the compile time. Targets of the same optimization share what the first one precompiles; one with
# a header of its own shares nothing.
function(fuselage_precompile target cold header)
  get_property(first GLOBAL PROPERTY fuselage_precompiled_${cold})
  if(first AND NOT header)
    target_precompile_headers(${target} REUSE_FROM ${first})
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <fmt/format.h> <algorithm> <functional> <map> <memory>
                                              <string> <vector> ${header})
  if(NOT first)
    set_property(GLOBAL PROPERTY fuselage_precompiled_${cold} ${target})
  endif()
endfunction()

# fuselage_layer(NAME [COLD] [ALONE regex] [EXCEPT patterns…] [WITH patterns…] [PRECOMPILE header] [PUBLIC libs…]
# [PRIVATE libs…]): the static library fuselage_NAME from every .cpp file under NAME/, except files that match a
# pattern: a program's main file, and files of another library or of another system, in whose place are those
# of WITH. The files of a folder are compiled together; those whose path matches ALONE are compiled alone. The
# code of a COLD layer runs a few times for a model or a command, and is optimized less. PRECOMPILE adds to the
# precompiled headers.
function(fuselage_layer name)
  cmake_parse_arguments(arg "COLD" "ALONE;PRECOMPILE" "EXCEPT;WITH;PUBLIC;PRIVATE" ${ARGN})
  set(target fuselage_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  if(arg_EXCEPT)
    list(TRANSFORM arg_EXCEPT PREPEND ${PROJECT_SOURCE_DIR}/${name}/)
    file(GLOB_RECURSE excepted CONFIGURE_DEPENDS ${arg_EXCEPT})
    list(REMOVE_ITEM sources ${excepted})
  endif()
  if(arg_WITH)
    list(TRANSFORM arg_WITH PREPEND ${PROJECT_SOURCE_DIR}/)
    file(GLOB_RECURSE others CONFIGURE_DEPENDS ${arg_WITH})
    list(APPEND sources ${others})
  endif()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  if(arg_COLD)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  fuselage_precompile(${target} "${arg_COLD}" "${arg_PRECOMPILE}")
  fuselage_unite(${target} "${arg_ALONE}")
endfunction()
