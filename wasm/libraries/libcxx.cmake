# LLVM's standard library, as the headers of all targets and the library cxx. Exceptions and types at run time are
# Emscripten's own (libc++abi).
set(cxx ${FUSELAGE_SOURCES}/llvm-toolchain-16/libcxx)
set(_LIBCPP_ABI_VERSION 1)
set(_LIBCPP_ABI_NAMESPACE __16)
set(_LIBCPP_HAS_MUSL_LIBC ON)
set(_LIBCPP_HAS_NO_VENDOR_AVAILABILITY_ANNOTATIONS ON)
set(_LIBCPP_ENABLE_ASSERTIONS_DEFAULT 0)
configure_file(${cxx}/include/__config_site.in ${CMAKE_CURRENT_BINARY_DIR}/cxx/__config_site)

file(GLOB sources CONFIGURE_DEPENDS ${cxx}/src/*.cpp ${cxx}/src/filesystem/*.cpp ${cxx}/src/ryu/*.cpp)
# What other systems need, and what nothing here uses.
list(FILTER sources EXCLUDE REGEX "/(int128_builtins|legacy_[a-z_]+|barrier|format|memory_resource|strstream)\.cpp$")
add_library(cxx STATIC ${sources})
target_include_directories(cxx PRIVATE ${cxx}/src ${EMSCRIPTEN_ROOT_PATH}/system/lib/libcxxabi/include)
target_compile_definitions(cxx PRIVATE _LIBCPP_BUILDING_LIBRARY LIBCXX_BUILDING_LIBCXXABI)
target_compile_options(cxx PRIVATE -w -fvisibility=hidden)
