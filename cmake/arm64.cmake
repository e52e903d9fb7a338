# Builds for ARM64 on another machine, against the Debian packages that tools/arm64 unpacks into build/arm64-root, and
# runs what was built under emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(TARE_ARM64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${TARE_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${TARE_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${TARE_ARM64_ROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TARE_ARM64_ROOT})
# The compiler brings its own C library, so the root's is looked at last and its libraries only by full path.
set(CMAKE_CXX_FLAGS_INIT
    "-idirafter ${TARE_ARM64_ROOT}/usr/include -idirafter ${TARE_ARM64_ROOT}/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,-rpath-link,${TARE_ARM64_ROOT}/usr/lib/aarch64-linux-gnu:${TARE_ARM64_ROOT}/lib/aarch64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${TARE_ARM64_ROOT}")
