# fuselage_discover_suites(TARGET NAME [ENVIRONMENT modification…] [WORKING_DIRECTORY folder]): a test of CTest
# for each suite of a GoogleTest program, named NAME.Suite, with the label NAME. A suite runs in one process,
# since starting one for each of its tests takes longer than most of them; a large suite is divided among
# several.
set(FUSELAGE_DISCOVER_SUITES ${CMAKE_CURRENT_LIST_DIR}/discover_suites.cmake)
function(fuselage_discover_suites target name)
  cmake_parse_arguments(arg "" "WORKING_DIRECTORY" "ENVIRONMENT" ${ARGN})
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set(tests ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  # CTest would not put the emulator before a test that a file adds.
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${tests}
    COMMAND ${CMAKE_COMMAND} -D "PROGRAM=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:${target}>"
                             -D "NAME=${name}" -D "FILE=${tests}"
                             -D "ENVIRONMENT=${arg_ENVIRONMENT}" -D "FOLDER=${arg_WORKING_DIRECTORY}"
                             -P ${FUSELAGE_DISCOVER_SUITES}
    VERBATIM)
  # A program that is not built has no file yet; then this is a test that fails.
  file(GENERATE OUTPUT ${tests}.in CONTENT
"if(EXISTS \"${tests}\")
  include(\"${tests}\")
else()
  add_test(${name} ${target}_is_not_built)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${tests}.in)
endfunction()
