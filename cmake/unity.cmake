# How sources become objects: quickly.
#
#   tare_unity(TARGET MOST BYTES SOURCE...)   at most MOST sources of a folder, with at most BYTES of text, in one unit:
#                                             most of a build's time went into the same headers, again and again
#
# Not code that is compiled for several instruction sets, which includes itself. Names that are private to a file must
# therefore be unique in their folder; the preset `debug` builds every file alone, which shows a missing include. What
# is over in milliseconds, and would take longer to optimize than it ever saves, is optimized less.
#
#   tare_precompile(TARGET)             the headers that nearly every unit includes are compiled once: worth it for more
#                                       than two units
#
# Not with ccache, for which a compiled header is one more input, another one in every directory.
option(TARE_UNITY "Compile the sources of a folder together" ON)
set(TARE_ANY_SIZE 1000000000)  # bytes
set(TARE_O3 "src/convert/(importance|knapsack|merged_blob)")  # and what is not named here
set(TARE_O1 "src/(arch|cli|convert|formats/alt|formats/hf|formats/npy|formats/tllm|resources|view)/")
set(TARE_O2 "src/(chat|device|formats|io|model|tokenize)/")
# What the tests under sanitizers, where all else is not optimized, would spend their time in.
set(TARE_SANITIZED_O1 "src/(base|codecs|inspect|model|run|formats/npy|formats/tllm)/[^/]*$|${TARE_O3}[.]")

function(tare_unity target most most_bytes)
  if(NOT TARE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    file(STRINGS ${source} simd REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(simd)
      # Unoptimized, these would take most of the time of the tests under sanitizers.
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Sanitize>:-O1>)
      if(CMAKE_BUILD_TYPE STREQUAL "Sanitize")  # precompiled headers are for one set of options
        set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
      endif()
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} folder)
    set(level)
    foreach(candidate 3 1 2)
      if(NOT level AND source MATCHES ${TARE_O${candidate}})
        set(level ${candidate})
      endif()
    endforeach()
    if(level)
      string(APPEND folder _o${level})
    endif()
    if(NOT DEFINED ${folder}_group)
      set(${folder}_group 0)
      set(${folder}_count 0)
      set(${folder}_bytes 0)
    endif()
    file(SIZE ${source} size)
    math(EXPR count "${${folder}_count} + 1")
    math(EXPR bytes "${${folder}_bytes} + ${size}")
    if(count GREATER most OR (count GREATER 1 AND bytes GREATER most_bytes))
      math(EXPR ${folder}_group "${${folder}_group} + 1")
      set(count 1)
      set(bytes ${size})
    endif()
    set(${folder}_count ${count})
    set(${folder}_bytes ${bytes})
    set(group ${${folder}_group})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
    # By the name that CMake gives to the unit.
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${folder}_${group}_cxx.cxx)
    if(CMAKE_BUILD_TYPE STREQUAL "Sanitize")
      if(source MATCHES ${TARE_SANITIZED_O1})
        set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
      endif()
    elseif(level)
      set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-O${level}>)
    endif()
  endforeach()
endfunction()

if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(TARE_PRECOMPILE_DEFAULT OFF)
else()
  set(TARE_PRECOMPILE_DEFAULT ${TARE_UNITY})
endif()
option(TARE_PRECOMPILE "Compile the usual headers once" ${TARE_PRECOMPILE_DEFAULT})
# From GCC 13 on, units with an -O level of their own cannot use it on x86-64, and compile without it. That is no mistake to
# warn of, let alone an error of TARE_WERROR.
set(CMAKE_PCH_WARN_INVALID OFF)

function(tare_precompile target)
  if(NOT TARE_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstdint> <cstring> <functional> <limits>
    <map> <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <thread> <unordered_map> <utility> <vector>
    <fmt/format.h> ${PROJECT_SOURCE_DIR}/include/tare/codec.hpp ${PROJECT_SOURCE_DIR}/include/tare/open.hpp
    ${PROJECT_SOURCE_DIR}/src/base/checked.hpp ${PROJECT_SOURCE_DIR}/src/base/text.hpp
    ${PROJECT_SOURCE_DIR}/src/base/endian.hpp)
endfunction()
