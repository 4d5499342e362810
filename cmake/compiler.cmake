# Language level, warnings and sanitizers for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
endif()
if(NOT EMSCRIPTEN)
  # A module of WebAssembly is one file.
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  # The build ID identifies the code in files of cached weights.
  add_link_options(-Wl,--build-id=sha1)
endif()
# Designated initializers leave out members on purpose.
set(cxx_options -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
if(FUSELAGE_WERROR)
  list(APPEND cxx_options -Werror)
endif()
# A result must not depend on the compiler's contraction; code that wants it writes it out.
list(APPEND cxx_options -ffp-contract=off)
# Messages name source files relative to the project: no binary contains a path of the build.
list(APPEND cxx_options -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # clang 14 applies the visibility of a namespace to classes only; there the list of exported symbols
  # (library.map) hides the rest.
  list(APPEND cxx_options -fvisibility=hidden -fno-semantic-interposition)
  # False positives of g++ 12 in inlined code of the standard library and Eigen.
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
# nvcc passes these to the host compiler; the code that it generates fails -Wpedantic.
set(cuda_options ${cxx_options})
list(REMOVE_ITEM cuda_options -Wpedantic)
list(JOIN cuda_options "," cuda_options)
set(cuda_warnings "")
if(FUSELAGE_WERROR)
  set(cuda_warnings "-Werror=all-warnings;")
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}-Xcompiler=${cuda_options}>")
