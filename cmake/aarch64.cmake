# A toolchain for ARM64 on Debian: its cross compiler, and a folder with libraries for ARM64, which
# -DCMAKE_SYSROOT=FOLDER or the environment variable FUSELAGE_SYSROOT names. scripts/test_arm.sh makes it.
# Programs that the build runs, such as tests, run in an emulator, which is named by its path: tests change PATH.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
if(NOT CMAKE_SYSROOT)
  set(CMAKE_SYSROOT $ENV{FUSELAGE_SYSROOT})
endif()
find_program(FUSELAGE_EMULATOR qemu-aarch64-static)
if(FUSELAGE_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${FUSELAGE_EMULATOR} -L ${CMAKE_SYSROOT})
endif()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# For pkg-config.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
