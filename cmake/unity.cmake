# Sources of one folder are compiled together: most of a build's time went into the same headers, again and again.
#
#   tare_unity(TARGET MOST SOURCE...)   at most MOST sources of a folder in one unit
#
# Not code that is compiled for several instruction sets, which includes itself. Names that are private to a file must
# therefore be unique in their folder; the preset `debug` builds every file alone, which shows a missing include.
option(TARE_UNITY "Compile the sources of a folder together" ON)

function(tare_unity target most)
  if(NOT TARE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    file(STRINGS ${source} simd REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(simd)
      # Unoptimized, these would take most of the time of the tests under sanitizers.
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Sanitize>:-O1>)
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} folder)
    math(EXPR group "${${folder}_count}0 / 10 / ${most}")
    math(EXPR ${folder}_count "${${folder}_count}0 / 10 + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
endfunction()
