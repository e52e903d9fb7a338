# What libtare links. Read by the build and, for a static library, by the installed package, so that the two cannot
# disagree.
if(DEFINED CMAKE_FIND_PACKAGE_NAME)
  include(CMakeFindDependencyMacro)
  macro(tare_find)
    find_dependency(${ARGN})
  endmacro()
else()
  macro(tare_find name)
    find_package(${name} REQUIRED ${ARGN})
  endmacro()
endif()

tare_find(Threads)
tare_find(fmt)
tare_find(ZLIB)
tare_find(OpenSSL COMPONENTS Crypto)
tare_find(simdjson)
tare_find(PkgConfig)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET ${TARE_GLOBAL} libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET ${TARE_GLOBAL} libxxhash)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET ${TARE_GLOBAL} libisal)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET ${TARE_GLOBAL} libhwy)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET ${TARE_GLOBAL} libutf8proc)
set_target_properties(PkgConfig::utf8proc PROPERTIES INTERFACE_COMPILE_OPTIONS "")  # they are for builds of utf8proc itself

set(TARE_DEPENDENCIES fmt::fmt ZLIB::ZLIB OpenSSL::Crypto simdjson::simdjson PkgConfig::zstd PkgConfig::xxhash
                      PkgConfig::isal PkgConfig::hwy PkgConfig::utf8proc Threads::Threads)
# The same for pkg-config.
set(TARE_PKGCONFIG_REQUIRES "fmt zlib libcrypto simdjson libzstd libxxhash libisal libhwy libutf8proc")
