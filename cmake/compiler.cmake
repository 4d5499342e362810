# Language level, warnings and sanitizers for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# A file that a program caches names the program by this.
add_link_options(-Wl,--build-id=sha1)
# Designated initializers leave out members on purpose.
set(cxx_options -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror
                -Wno-missing-field-initializers)
# A result must not depend on how a compiler fuses: contraction is written out where it is wanted.
list(APPEND cxx_options -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these in the standard library's and Eigen's own inlined code.
  list(APPEND cxx_options -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds
                          -Wno-stringop-overflow)
endif()
if(FUSELAGE_SANITIZE)
  list(APPEND cxx_options -fsanitize=${FUSELAGE_SANITIZE} -fno-omit-frame-pointer
                          -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FUSELAGE_SANITIZE})
  add_compile_definitions(FUSELAGE_SANITIZED)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${cxx_options}>")
# nvcc hands these on to the compiler of the host; its own code is not fit for -Wpedantic.
set(cuda_options ${cxx_options})
list(REMOVE_ITEM cuda_options -Wpedantic)
list(JOIN cuda_options "," cuda_options)
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=${cuda_options}>")
