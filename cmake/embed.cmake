# Files as a source, so that they are in the binary.
#
#   tare_embed(SOURCE NAMESPACE FUNCTION HEADER FILE...)   sets SOURCE to a file that the build makes. HEADER declares
#                                                          std::vector<EmbeddedFile> FUNCTION() in NAMESPACE
#
# Run as a script (cmake -P), with the same as definitions, it writes that file.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(tare_embed source namespace function header)
    set(output ${PROJECT_BINARY_DIR}/embedded/${function}.cpp)
    set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} "-DFILES=${ARGN}" -DOUTPUT=${output} -DNAMESPACE=${namespace} -DFUNCTION=${function} -DHEADER=${header}
              -P ${script}
      DEPENDS ${ARGN} ${script}
      COMMENT "Embedding ${function}" VERBATIM)
    set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
    set(${source} ${output} PARENT_SCOPE)
  endfunction()
  return()
endif()

set(text "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\nstd::vector<EmbeddedFile> ${FUNCTION}() {\n  return {\n")
foreach(path ${FILES})
  cmake_path(GET path FILENAME name)
  # Byte by byte: CMake's own strings take brackets and semicolons for something else.
  file(READ ${path} hex HEX)
  file(SIZE ${path} size)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
  string(APPEND text "    {\"${name}\", {\"${escaped}\", ${size}}},\n")
endforeach()
string(APPEND text "  };\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
