# A toolchain for Windows on x86-64, as Debian has it: clang, with the headers and libraries of MinGW-w64 and of its g++.
# FUSELAGE_SOURCES is a folder with the sources of libraries; see scripts/check_portability.sh. Programs that the build
# runs, such as tests, run in Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(triple x86_64-w64-mingw32)
set(CMAKE_C_COMPILER_TARGET ${triple})
set(CMAKE_CXX_COMPILER_TARGET ${triple})
set(CMAKE_RC_COMPILER ${triple}-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/lib/wine/wine64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FUSELAGE_SOURCES)
file(GLOB gcc /usr/lib/gcc/${triple}/*-posix)
set(system "-nostdlibinc -isystem /usr/${triple}/include")
# Sizes of files have 64 bits. Variables of threads are those of g++, whose library has some in its headers. The calls are
# those of Windows 10.
set(options "-D_FILE_OFFSET_BITS=64 -D_WIN32_WINNT=0x0A00 -femulated-tls")
set(CMAKE_C_FLAGS_INIT "${options} ${system}")
set(CMAKE_CXX_FLAGS_INIT
    "${options} -nostdinc++ -isystem ${gcc}/include/c++ -isystem ${gcc}/include/c++/${triple} ${system}")
# By -pthread the library of threads follows that of g++, which needs it.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${gcc} -static -pthread -Wl,--stack,8388608")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
