# fuselage_layer(NAME [EXCEPT path] [PUBLIC libs…] [PRIVATE libs…]): the static library fuselage_NAME
# out of every .cpp file under NAME/, except this file, or those in this folder.
function(fuselage_layer name)
  cmake_parse_arguments(arg "" "EXCEPT" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${name}/${arg_EXCEPT}(/|$)")
  endif()
  add_library(fuselage_${name} STATIC ${sources})
  target_include_directories(fuselage_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(fuselage_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()
