# fuselage_layer(NAME [PUBLIC libs…] [PRIVATE libs…]): the static library fuselage_NAME out of every
# .cpp file under NAME/.
function(fuselage_layer name)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  add_library(fuselage_${name} STATIC ${sources})
  target_include_directories(fuselage_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(fuselage_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()
