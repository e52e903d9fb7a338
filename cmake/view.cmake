# tare-view: what `tare view` and `tare report` show. A part of the command, not of the library, which needs no server.
# libmicrohttpd is loaded when a server starts (src/view/server.hpp); a file that is to run anywhere has it inside.
find_path(TARE_MICROHTTPD_INCLUDE microhttpd.h REQUIRED)
mark_as_advanced(TARE_MICROHTTPD_INCLUDE)
option(TARE_LINK_SERVER "Link libmicrohttpd instead of loading it when `tare view` starts" OFF)

# A script comes after those that it imports.
set(TARE_PAGE_DIR ${PROJECT_SOURCE_DIR}/src/view/page)
set(TARE_PAGE_FILES page.html page.css refused.html refused.css)
foreach(name dom format place colour held api virtual chart grid heat runs compare overview tensor tensors vocabulary facts check main)
  list(APPEND TARE_PAGE_FILES ${name}.js)
endforeach()
list(TRANSFORM TARE_PAGE_FILES PREPEND ${TARE_PAGE_DIR}/ OUTPUT_VARIABLE TARE_PAGE_PATHS)
tare_embed(TARE_PAGE_SOURCE tare::view page_files view/page.hpp ${TARE_PAGE_PATHS})

add_library(tare-view STATIC ${TARE_VIEW_SOURCES} ${TARE_PAGE_SOURCE})
target_include_directories(tare-view PRIVATE ${TARE_MICROHTTPD_INCLUDE})
target_link_libraries(tare-view PUBLIC tare-internals PRIVATE fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
if(TARE_LINK_SERVER)
  find_library(TARE_MICROHTTPD_LIBRARY microhttpd REQUIRED)
  mark_as_advanced(TARE_MICROHTTPD_LIBRARY)
  target_compile_definitions(tare-view PRIVATE TARE_LINK_SERVER)
  target_link_libraries(tare-view PRIVATE ${TARE_MICROHTTPD_LIBRARY})
endif()
set_target_properties(tare-view PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
tare_unity(tare-view 20 ${TARE_ANY_SIZE} ${TARE_VIEW_SOURCES})
