# cmake --install: headers, library, command, man page, completions, CMake package, pkg-config file.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tare)

install(TARGETS tare EXPORT tareTargets FILE_SET HEADERS)
install(EXPORT tareTargets NAMESPACE tare:: DESTINATION ${package_dir})

configure_package_config_file(cmake/tareConfig.cmake.in ${PROJECT_BINARY_DIR}/package/tareConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# 0.x: a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/tareConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/tareConfig.cmake ${PROJECT_BINARY_DIR}/package/tareConfigVersion.cmake
              cmake/dependencies.cmake
        DESTINATION ${package_dir})

# Relative to the file itself: the installed tree may be moved, and `cmake --install --prefix` need not be known here.
file(RELATIVE_PATH TARE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(TARE_PKGCONFIG_PRIVATE ${TARE_PKGCONFIG_REQUIRES})
if(TARE_LIBRARY_TYPE STREQUAL "SHARED_LIBRARY")
  # A shared library has them inside. pkg-config refuses a package if one that it requires is missing, private or not.
  set(TARE_PKGCONFIG_PRIVATE "")
endif()
configure_file(cmake/tare.pc.in ${PROJECT_BINARY_DIR}/package/tare.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/tare.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET tare-cli)
  install(TARGETS tare-cli)

  # The command writes its own man page and completions.
  set(pages)
  function(tare_prints output)
    set(path ${PROJECT_BINARY_DIR}/package/${output})
    add_custom_command(OUTPUT ${path} COMMAND tare-cli ${ARGN} > ${path} DEPENDS tare-cli VERBATIM
                       COMMENT "Writing ${output}")
    set(pages ${pages} ${path} PARENT_SCOPE)
  endfunction()
  tare_prints(tare.1 man)
  tare_prints(tare.bash completions bash)
  tare_prints(_tare completions zsh)
  tare_prints(tare.fish completions fish)
  add_custom_target(tare-pages ALL DEPENDS ${pages})

  set(package ${PROJECT_BINARY_DIR}/package)
  install(FILES ${package}/tare.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${package}/tare.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tare)
  install(FILES ${package}/_tare DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${package}/tare.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
