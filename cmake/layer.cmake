# fuselage_layer(NAME [EXCEPT pattern] [PUBLIC libs…] [PRIVATE libs…]): the static library
# fuselage_NAME from every .cpp file under NAME/, except files that match the pattern: a program's
# main file, and files of another library.
function(fuselage_layer name)
  cmake_parse_arguments(arg "" "EXCEPT" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  if(arg_EXCEPT)
    file(GLOB_RECURSE excepted CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/${arg_EXCEPT})
    list(REMOVE_ITEM sources ${excepted})
  endif()
  add_library(fuselage_${name} STATIC ${sources})
  target_include_directories(fuselage_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  # Nearly all sources include these, and reading them takes a quarter of the compile time.
  target_precompile_headers(fuselage_${name} PRIVATE <fmt/format.h> <algorithm> <functional> <map>
                                                     <memory> <string> <vector>)
  target_link_libraries(fuselage_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()
