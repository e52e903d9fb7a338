# cmake -DFILES="a;b" -DOUTPUT=page_files.cpp -P embed.cmake: the files as a source that src/view/page.hpp declares.
set(text "#include \"view/page.hpp\"\n\nnamespace tare::view {\n\nstd::vector<PageFile> page_files() {\n  return {\n")
foreach(path ${FILES})
  cmake_path(GET path FILENAME name)
  # Byte by byte: CMake's own strings take brackets and semicolons for something else.
  file(READ ${path} hex HEX)
  file(SIZE ${path} size)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
  string(APPEND text "    {\"${name}\", {\"${escaped}\", ${size}}},\n")
endforeach()
string(APPEND text "  };\n}\n\n}  // namespace tare::view\n")
file(WRITE ${OUTPUT} "${text}")
