# Configures a project that contains Tare, and builds its program. Not the library, which would take minutes: the archive
# that has been built already is put in its place. Arguments: see tests/tree.cmake.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${output}\nended with ${code}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# By FetchContent first, which is configured only; then by add_subdirectory.
foreach(fetch ON OFF)
  file(REMOVE_RECURSE ${WORK})
  file(MAKE_DIRECTORY ${WORK})
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G Ninja -D TARE=${TARE} -D FETCH=${fetch} -D CMAKE_CXX_COMPILER=${CXX})
  if(output MATCHES "Warning")
    message(FATAL_ERROR "${output}")
  endif()
endforeach()

# The warnings of a part of it are not the parent's business.
run(ninja -t commands consumer)
if(output MATCHES "-W(all|extra|error)|-fsanitize")
  message(FATAL_ERROR "there are flags of Tare's own build:\n${output}")
endif()
string(REGEX MATCH "[^\n]*-o consumer [^\n]*" link "${output}")
# cmake --install would install nothing of Tare.
file(GLOB_RECURSE installs ${WORK}/cmake_install.cmake ${WORK}/tare/cmake_install.cmake)
foreach(script ${installs})
  file(STRINGS ${script} rules REGEX "file\\(INSTALL")
  if(rules)
    message(FATAL_ERROR "${script} installs: ${rules}")
  endif()
endforeach()

run(ninja CMakeFiles/consumer.dir/main.cpp.o)
file(COPY_FILE ${ARCHIVE} ${WORK}/tare/libtare.a)
run(sh -c "${link}")
run(${WORK}/consumer)
if(NOT output STREQUAL "zt: 6 numbers, the last is 6, io.sink.exists\n")
  message(FATAL_ERROR "consumer printed: ${output}")
endif()
file(REMOVE_RECURSE ${WORK})
