# Most of the compile time of a source file is in templates of libraries that its neighbours use too.
option(FUSELAGE_UNITY_BUILD "Compile several source files of a layer at a time" ON)

# fuselage_unite(TARGET): compiles several of its source files at a time.
function(fuselage_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${FUSELAGE_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 6)
  # A class of a header may have members of types that only its source file has.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# fuselage_layer(NAME [SEPARATE] [EXCEPT pattern] [PRECOMPILE header] [PUBLIC libs…] [PRIVATE libs…]): the
# static library fuselage_NAME from every .cpp file under NAME/, except files that match the pattern: a
# program's main file, and files of another library. With PRECOMPILE it has a precompiled header of its
# own, which it needs too if its compile options differ from those of the others. With SEPARATE each file
# is compiled alone: files of kernels, rules and architectures have the same names for their parts.
function(fuselage_layer name)
  cmake_parse_arguments(arg "SEPARATE" "EXCEPT;PRECOMPILE" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  if(arg_EXCEPT)
    file(GLOB_RECURSE excepted CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/${arg_EXCEPT})
    list(REMOVE_ITEM sources ${excepted})
  endif()
  add_library(fuselage_${name} STATIC ${sources})
  target_include_directories(fuselage_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  # Nearly all sources include these, and reading them takes a quarter of the compile time. The first
  # layer precompiles them for all.
  if(name STREQUAL base OR arg_PRECOMPILE)
    target_precompile_headers(fuselage_${name} PRIVATE <fmt/format.h> <algorithm> <functional> <map>
                                                       <memory> <string> <vector> ${arg_PRECOMPILE})
  else()
    target_precompile_headers(fuselage_${name} REUSE_FROM fuselage_base)
  endif()
  if(NOT arg_SEPARATE)
    fuselage_unite(fuselage_${name})
  endif()
  target_link_libraries(fuselage_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()
