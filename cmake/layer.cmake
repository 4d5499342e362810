# fuselage_layer(NAME [EXCEPT pattern] [PRECOMPILE header] [PUBLIC libs…] [PRIVATE libs…]): the static
# library fuselage_NAME from every .cpp file under NAME/, except files that match the pattern: a
# program's main file, and files of another library. With PRECOMPILE it has a precompiled header of its
# own, which it needs too if its compile options differ from those of the others.
function(fuselage_layer name)
  cmake_parse_arguments(arg "" "EXCEPT;PRECOMPILE" "PUBLIC;PRIVATE" ${ARGN})
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
  target_link_libraries(fuselage_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()
