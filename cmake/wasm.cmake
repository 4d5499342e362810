# A toolchain for WebAssembly on Debian: Emscripten, with vectors of 128 bits and WebAssembly's own exceptions.
# FUSELAGE_SOURCES is a folder with the sources of libraries, which scripts/build_wasm.sh makes. With FUSELAGE_WASM_THREADS
# memory is shared by threads, so all code is compiled with -pthread.
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FUSELAGE_SOURCES FUSELAGE_WASM_THREADS)
set(features "-msimd128 -fwasm-exceptions")
if(FUSELAGE_WASM_THREADS)
  string(APPEND features " -pthread")
endif()
set(CMAKE_C_FLAGS_INIT "${features}")
set(CMAKE_CXX_FLAGS_INIT
    "${features} -nostdinc++ -isystem ${CMAKE_BINARY_DIR}/wasm/libraries/cxx \
-isystem ${FUSELAGE_SOURCES}/llvm-toolchain-16/libcxx/include")
