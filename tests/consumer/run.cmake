# Installs the built tree into a fresh prefix, moves it, and builds main.cpp against it twice: once with find_package,
# once with pkg-config. Arguments: see tests/tree.cmake.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${output}\nended with ${code}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_file path)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "${path} was not installed")
  endif()
  file(SIZE ${prefix}/${path} size)
  if(size EQUAL 0)
    message(FATAL_ERROR "${path} is empty")
  endif()
endfunction()

function(expect_output program)
  run(${program})
  if(NOT output STREQUAL "tare ${VERSION}: 2x3\n")
    message(FATAL_ERROR "${program} printed: ${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
# Nothing installed may remember where it was put at first.
file(RENAME ${WORK}/first ${WORK}/moved)
set(prefix ${WORK}/moved)

expect_file(include/tare/tare.hpp)
expect_file(include/tiny_llama/model.hpp)
if(COMMAND_BUILT)
  expect_file(bin/tare)
  expect_file(share/man/man1/tare.1)
  expect_file(share/bash-completion/completions/tare)
  expect_file(share/zsh/site-functions/_tare)
  expect_file(share/fish/vendor_completions.d/tare.fish)
endif()

set(flags)
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
endif()

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${flags}
    -D CMAKE_PREFIX_PATH=${prefix} -D VERSION=${VERSION})
run(${CMAKE_COMMAND} --build ${WORK}/build)
expect_output(${WORK}/build/consumer)

# The example of the Tiny Llama document, and a file that does not fit.
execute_process(COMMAND ${WORK}/build/llama WORKING_DIRECTORY ${WORK}/build RESULT_VARIABLE code OUTPUT_VARIABLE output)
if(NOT code EQUAL 0 OR NOT output MATCHES "model dimension: expected 64, found 512")
  message(FATAL_ERROR "llama ended with ${code} and printed: ${output}")
endif()

if(TYPE STREQUAL STATIC_LIBRARY)
  set(static --static)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
else()
  # Where the libraries inside of it have no packages for developers.
  set(static)
  set(ENV{PKG_CONFIG_LIBDIR} ${prefix}/${LIBDIR}/pkgconfig)
endif()
run(pkg-config ${static} --cflags --libs tare)
separate_arguments(options UNIX_COMMAND "${output}")
run(${CXX} -std=c++20 ${flags} ${SOURCE}/main.cpp -o ${WORK}/with-pkg-config ${options})
set(ENV{LD_LIBRARY_PATH} ${prefix}/${LIBDIR})
expect_output(${WORK}/with-pkg-config)
file(REMOVE_RECURSE ${WORK})
