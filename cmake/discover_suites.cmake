# Run after a GoogleTest program was linked; see test_suites.cmake. Asks PROGRAM, a command, for its tests and
# writes FILE, which CTest reads.
set(tests_of_a_process 100)

# Without empty elements: there may be no emulator.
set(PROGRAM ${PROGRAM})
list(JOIN PROGRAM "]] [[" command)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
# A comment tells types and parameters, with any characters.
string(REGEX REPLACE "  # [^\n]*" "" listing "${listing}")
string(REPLACE "\n" ";" lines "${listing}")

set(suites)
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite ${CMAKE_MATCH_1})
    list(APPEND suites ${suite})
    set(count_${suite} 0)
  elseif(line MATCHES "^  ")
    math(EXPR count_${suite} "${count_${suite}} + 1")
  endif()
endforeach()

set(text)
foreach(suite IN LISTS suites)
  math(EXPR shards "(${count_${suite}} + ${tests_of_a_process} - 1) / ${tests_of_a_process}")
  math(EXPR cost "${count_${suite}} / ${shards}")
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(test ${NAME}.${suite})
    set(environment ${ENVIRONMENT})
    if(shards GREATER 1)
      string(APPEND test "_${shard}")
      list(APPEND environment GTEST_TOTAL_SHARDS=set:${shards} GTEST_SHARD_INDEX=set:${shard})
    endif()
    string(APPEND text
      "add_test([[${test}]] [[${command}]] [[--gtest_filter=${suite}.*]])\n"
      "set_tests_properties([[${test}]] PROPERTIES LABELS [[${NAME}]] COST ${cost}"
      " ENVIRONMENT_MODIFICATION [[${environment}]] WORKING_DIRECTORY [[${FOLDER}]])\n")
  endforeach()
endforeach()
file(WRITE ${FILE} "${text}")
