# Checks of the tree itself: layers, stand-alone headers, the examples in the documents, the generated README, the guide, what
# a shared library exports, and use from outside: the sources inside another project, and an installed copy.

# What is true of the sources whatever they are built with. A sanitizer's build has not all of the tests that
# docs/security-audit.md names.
if(NOT TARE_SANITIZE)
  # Includes point down only.
  add_test(NAME tree.layers COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/layers.py)
  set(archive tare)
  if(TARE_LIBRARY_TYPE STREQUAL "SHARED_LIBRARY")
    set(archive tare-internals)
  endif()
  add_test(NAME tree.link-names
           COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/layers.py --links $<TARGET_FILE:${archive}>)
  add_test(NAME tree.registers COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/registers.py $<TARGET_FILE:${archive}>)
  add_test(NAME tree.layers-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/layers.py --selftest)

  # Names in the file system are changed by one primitive.
  add_test(NAME tree.file-calls COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/file_calls.py)
  add_test(NAME tree.file-calls-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/file_calls.py --selftest)

  # The facts about ggml's types are in one table.
  add_test(NAME tree.ggml-types COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/ggml_types.py)
  add_test(NAME tree.ggml-types-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/ggml_types.py --selftest)

  # An option of conversions is one row of a table.
  add_test(NAME tree.options COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/options.py --count)
  add_test(NAME tree.options-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/options.py --selftest)

  # What may wait for Python's GIL is called in one place; nothing is destroyed under threads that outlive main.
  add_test(NAME tree.gil-calls COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/gil_calls.py)
  add_test(NAME tree.gil-calls-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/gil_calls.py --selftest)
  add_test(NAME tree.at-exit COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/at_exit.py $<TARGET_FILE:${archive}>)

  # Every rule id that an error or a finding may carry is explained.
  add_test(NAME tree.rules-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/rules.py --selftest)
  add_test(NAME tree.rules COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/rules.py)

  # The kernels in the tree are those of their source; made afresh where the compiler is the one that made them.
  add_test(NAME tree.kernels COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/ptx --stamp)
  add_test(NAME tree.kernels-afresh COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/ptx --check)
  set_tests_properties(tree.kernels-afresh PROPERTIES SKIP_RETURN_CODE 77)

  # Every link in the documents leads somewhere.
  add_test(NAME tree.links COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/links.py)
  add_test(NAME tree.links-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/links.py --selftest)

  # No page is too long to read.
  add_test(NAME tree.pages COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/pages.py)
  add_test(NAME tree.pages-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/pages.py --selftest)

  # The benchmark page and the numbers in the README are those of the stored runs.
  add_test(NAME tree.benchmarks COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/bench/page.py --check)
  add_test(NAME tree.benchmarks-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/bench/page.py --selftest)

  # The tables of what --json prints are drawn from the schema.
  add_test(NAME tree.json COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/schema.py --check)
  add_test(NAME tree.json-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/schema.py --selftest)

  # The version and the name to install are stated once, or are the same everywhere.
  add_test(NAME tree.version COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/version.py --check $<TARGET_FILE:tare-cli>)
  add_test(NAME tree.version-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/version.py --selftest)

  # What others package Tare with; where CMake stops; what `make install` needs.
  add_test(NAME tree.packaging COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tests/packaging.py $<TARGET_FILE:tare-cli> ${CMAKE_COMMAND})

  # Messages use the words of the glossary.
  add_test(NAME tree.words COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/words.py)
  add_test(NAME tree.words-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/words.py --selftest)
  # So do comments, and the files that they name exist.
  add_test(NAME tree.comments COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/comments.py)
  add_test(NAME tree.comments-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/comments.py --selftest)

  # Every test that the security page names exists.
  add_test(NAME tree.security COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/security.py ${PROJECT_BINARY_DIR})
  add_test(NAME tree.security-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/security.py --selftest)
endif()

# Every public header compiles alone: this library is made of nothing but one include each.
if(NOT TARE_SANITIZE)
  foreach(header ${TARE_HEADERS})
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/include OUTPUT_VARIABLE name)
    set(alone ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
    file(CONFIGURE OUTPUT ${alone} CONTENT "#include \"${name}\"\n")
    list(APPEND TARE_HEADERS_ALONE ${alone})
  endforeach()
  add_library(tare-headers OBJECT ${TARE_HEADERS_ALONE})
  target_link_libraries(tare-headers PRIVATE tare)
endif()

# The C++ examples of the documents are programs; each is built, and run on a file that the demo made.
file(GLOB TARE_DOCUMENTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md)
file(GLOB_RECURSE TARE_PAGES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
list(APPEND TARE_DOCUMENTS ${TARE_PAGES})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TARE_DOCUMENTS} ${PROJECT_SOURCE_DIR}/tools/examples.py)
execute_process(COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/examples.py ${CMAKE_CURRENT_BINARY_DIR}/examples
                        ${TARE_DOCUMENTS}
                OUTPUT_VARIABLE examples OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" examples "${examples}")
foreach(example ${examples})
  add_executable(example-${example} ${CMAKE_CURRENT_BINARY_DIR}/examples/${example}.cpp)
  target_link_libraries(example-${example} PRIVATE tare)
  if(TARGET tare-cli)
    add_test(NAME example.${example} COMMAND example-${example} ${CMAKE_CURRENT_BINARY_DIR}/demo/demo.zt)
    set_tests_properties(example.${example} PROPERTIES FIXTURES_REQUIRED demo-files)
  endif()
endforeach()

if(TARGET tare-cli)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/demo)
  add_test(NAME demo COMMAND tare-cli demo --force ${CMAKE_CURRENT_BINARY_DIR}/demo)
  set_tests_properties(demo PROPERTIES FIXTURES_SETUP demo-files)

  # What the README shows is what the command prints.
  add_test(NAME tree.readme COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/readme.py --check $<TARGET_FILE:tare-cli>)
  # Every other command of the documents works.
  add_test(NAME tree.blocks COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/blocks.py $<TARGET_FILE:tare-cli>)
  set_tests_properties(tree.blocks PROPERTIES TIMEOUT 900)
  add_test(NAME tree.blocks-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/blocks.py --selftest)
  # The pages of the verbs have the text of their help, and show what their examples print.
  add_test(NAME tree.verbs COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/verbs.py --check $<TARGET_FILE:tare-cli>)
  add_test(NAME tree.verbs-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/verbs.py --selftest)

  # Every command and program of the guide works, and prints what is shown there. A program outside of a sanitizer's build
  # does not link what it installs.
  if(NOT TARE_SANITIZE)
    add_test(NAME tree.guide COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/guide.py --check ${PROJECT_BINARY_DIR})
    set_tests_properties(tree.guide PROPERTIES TIMEOUT 300 ENVIRONMENT CXX=${CMAKE_CXX_COMPILER})
    add_test(NAME tree.guide-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/guide.py --selftest)
  endif()

  find_program(TARE_MANDOC mandoc)
  if(TARE_MANDOC)
    add_test(NAME tree.man COMMAND ${TARE_MANDOC} -Tlint -Wwarning ${PROJECT_BINARY_DIR}/package/tare.1)
  endif()
endif()

if(NOT TARE_SANITIZE)
  # A shared library shows what is public. A static one's objects are those of a shared one.
  set(shared tare)
  if(TARE_LIBRARY_TYPE STREQUAL "STATIC_LIBRARY")
    set(shared tare-exports)
    add_library(tare-exports SHARED $<TARGET_OBJECTS:tare>)
    set_target_properties(tare-exports PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(tare-exports PRIVATE ${TARE_DEPENDENCIES})
    tare_exports(tare-exports)
  endif()
  add_test(NAME tree.exports COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/exports.py $<TARGET_FILE:${shared}>)
  add_test(NAME tree.exports-selftest COMMAND ${TARE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/exports.py --selftest)

  # Tare as a part of another project.
  if(NOT CMAKE_CROSSCOMPILING)
    add_test(NAME tree.subdirectory
             COMMAND ${CMAKE_COMMAND} -D TARE=${PROJECT_SOURCE_DIR} -D SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/subdirectory
                     -D WORK=${CMAKE_CURRENT_BINARY_DIR}/subdirectory -D CXX=${CMAKE_CXX_COMPILER}
                     -D ARCHIVE=$<TARGET_FILE:tare> -P ${CMAKE_CURRENT_SOURCE_DIR}/subdirectory/run.cmake)
    set_tests_properties(tree.subdirectory PROPERTIES TIMEOUT 300)
  endif()
endif()

# A program outside the tree finds and uses an installed copy, which is the same whatever it is built with.
if(NOT TARE_INSTALL OR TARE_SANITIZE)
  return()
endif()
add_test(NAME tree.install
         COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -D WORK=${CMAKE_CURRENT_BINARY_DIR}/installed
                 -D SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/consumer -D CXX=${CMAKE_CXX_COMPILER} -D TYPE=${TARE_LIBRARY_TYPE}
                 -D VERSION=${PROJECT_VERSION}
                 -D SANITIZE=${TARE_SANITIZE} -D LIBDIR=${CMAKE_INSTALL_LIBDIR} -D COMMAND_BUILT=$<TARGET_EXISTS:tare-cli>
                 -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer/run.cmake)
set_tests_properties(tree.install PROPERTIES TIMEOUT 300 COST 20)
