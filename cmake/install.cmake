# Installation: library, headers, program, bundled models, documentation with examples, manual pages,
# completion, and what CMake and pkg-config need to find them. No installed file holds a path of the build or the prefix.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH library_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(fuselage_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_program}")
install(TARGETS fuselage EXPORT FuselageTargets FILE_SET HEADERS)
install(TARGETS fuselage_cli)
if(TARGET fuselage_cuda)
  install(TARGETS fuselage_cuda DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY ${FUSELAGE_BUNDLED_MODELS} DESTINATION ${CMAKE_INSTALL_DATADIR}/fuselage/models)
# As in the tree, so that the pages' links among each other hold.
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# CMake: find_package(Fuselage CONFIG).
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Fuselage)
configure_package_config_file(cmake/FuselageConfig.cmake.in generated/FuselageConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(generated/FuselageConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/FuselageConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/FuselageConfigVersion.cmake
        DESTINATION ${package})
install(EXPORT FuselageTargets NAMESPACE Fuselage:: DESTINATION ${package})

# pkg-config: the prefix is where the file lies.
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig ${prefix_from_pkgconfig})
configure_file(cmake/fuselage.pc.in generated/fuselage.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/fuselage.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Manual pages and completion, as the program prints them.
set(help ${PROJECT_BINARY_DIR}/generated/help)
add_custom_command(
  OUTPUT ${help}/man1/fuselage.1
  COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/make_help.sh ${help} ${CMAKE_CROSSCOMPILING_EMULATOR}
          $<TARGET_FILE:fuselage_cli>
  DEPENDS fuselage_cli fuselage scripts/make_help.sh
  VERBATIM)
add_custom_target(fuselage_help ALL DEPENDS ${help}/man1/fuselage.1)
install(DIRECTORY ${help}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${help}/bash-completion ${help}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR})
