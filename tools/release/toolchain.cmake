# Compiles for TARE_TARGET with what tools/release/kit has put into build/kit: a CMake toolchain file.
set(TARE_TARGET "" CACHE STRING "x86_64-gnu, aarch64-gnu, x86_64-musl or aarch64-musl")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TARE_TARGET)
get_filename_component(tree ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(kit ${tree}/build/kit/${TARE_TARGET})
string(REGEX REPLACE "-.*" "" processor "${TARE_TARGET}")

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${processor})
set(CMAKE_C_COMPILER ${kit}/bin/cc)
set(CMAKE_CXX_COMPILER ${kit}/bin/c++)
set(CMAKE_AR ${kit}/bin/ar)
set(CMAKE_RANLIB ${kit}/bin/ranlib)
# zig compiles its C++ library when it first links with a set of options: CMake's own attempts link nothing, or have those of the build.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH ${kit})
set(CMAKE_PREFIX_PATH ${kit})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${kit}/lib/pkgconfig)

# No path of this machine in what is made: two folders, the same bytes. musl names the 64-bit functions only if asked.
set(CMAKE_CXX_FLAGS_INIT "-O2 -g0 -ffunction-sections -fdata-sections -isystem ${kit}/include -ffile-prefix-map=${tree}=.")
if(TARE_TARGET MATCHES "musl")
  string(APPEND CMAKE_CXX_FLAGS_INIT " -D_LARGEFILE64_SOURCE")
endif()
set(linked "-s -Wl,--gc-sections -L${kit}/lib")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${linked}")
# Before zig's own unwinder, which would otherwise be taken: see tools/release/kit.
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${linked} ${kit}/lib/unwind/libgcc_s.so.1")
