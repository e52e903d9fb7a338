# What is inside of the library, and what a shared one shows.
get_target_property(TARE_LIBRARY_TYPE tare TYPE)

# A shared library exports its own visible symbols (TARE_API), not those of other libraries.
function(tare_exports library)
  set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  target_link_options(${library} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()
if(TARE_LIBRARY_TYPE STREQUAL "SHARED_LIBRARY")
  tare_exports(tare)
endif()

if(NOT TARE_COMMAND AND NOT TARE_TESTS AND NOT TARE_FUZZ AND NOT TARE_PY)
  return()
endif()

# tare-internals: the library with its inner headers, for the command, the Python module, the tests and the fuzz targets. A shared library
# does not show them what they need; they link the same objects as an archive.
if(TARE_LIBRARY_TYPE STREQUAL "SHARED_LIBRARY")
  add_library(tare-internals STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:tare>)
  set_target_properties(tare-internals PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(tare-internals PUBLIC ${TARE_DEPENDENCIES})
  target_compile_features(tare-internals PUBLIC cxx_std_20)
  target_include_directories(tare-internals INTERFACE ${PROJECT_SOURCE_DIR}/include)
else()
  add_library(tare-internals INTERFACE)
  target_link_libraries(tare-internals INTERFACE tare)
endif()
target_include_directories(tare-internals INTERFACE ${PROJECT_SOURCE_DIR}/src)
