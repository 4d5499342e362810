# fuselage_library(LAYER…): the shared library libfuselage.so with all code of these layers, and the target
# Fuselage::fuselage for other projects.
function(fuselage_library)
  list(TRANSFORM ARGN PREPEND fuselage_ OUTPUT_VARIABLE layers)
  list(JOIN layers "," whole)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
  add_library(fuselage SHARED)
  add_library(Fuselage::fuselage ALIAS fuselage)
  target_sources(fuselage PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
                                 FILES ${headers})
  target_compile_features(fuselage INTERFACE cxx_std_20)
  # tools links the other layers but capi; a layer that is linked twice would be there twice.
  target_link_libraries(fuselage PRIVATE fuselage_tools fuselage_capi)
  set(map ${PROJECT_SOURCE_DIR}/cmake/library.map)
  target_link_options(fuselage PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic-functions
                                       -Wl,--no-undefined)
  set_target_properties(fuselage PROPERTIES
    LINKER_LANGUAGE CXX LINK_DEPENDS ${map} LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${whole}"
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  if(FUSELAGE_SANITIZE)
    # The sanitizers' runtime is in the program.
    set_property(TARGET fuselage PROPERTY LINK_OPTIONS -Wl,--version-script=${map})
  endif()
endfunction()
