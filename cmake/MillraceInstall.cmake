# Every library is a component of one package, with an export set of its own.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(MILLRACE_CONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/millrace")

function(millrace_install_library name)
  if(NOT MILLRACE_INSTALL)
    return()
  endif()
  install(
    TARGETS millrace_${name}
    EXPORT millrace-${name}
    COMPONENT ${name}
    FILE_SET HEADERS COMPONENT ${name})
  install(
    EXPORT millrace-${name}
    NAMESPACE millrace::
    FILE millrace-${name}-targets.cmake
    DESTINATION "${MILLRACE_CONFIG_DIR}"
    COMPONENT ${name})
  millrace_library_folder(folder ${name})
  install(
    FILES "${PROJECT_SOURCE_DIR}/${folder}/dependencies.cmake"
    RENAME millrace-${name}-dependencies.cmake
    DESTINATION "${MILLRACE_CONFIG_DIR}"
    COMPONENT ${name})
endfunction()

function(millrace_install_config)
  if(NOT MILLRACE_INSTALL)
    return()
  endif()
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/millrace-config.cmake.in" millrace-config.cmake
                                INSTALL_DESTINATION "${MILLRACE_CONFIG_DIR}")
  write_basic_package_version_file(millrace-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(
    FILES "${CMAKE_CURRENT_BINARY_DIR}/millrace-config.cmake"
          "${CMAKE_CURRENT_BINARY_DIR}/millrace-config-version.cmake"
          "${PROJECT_SOURCE_DIR}/cmake/MillraceDependencies.cmake"
    DESTINATION "${MILLRACE_CONFIG_DIR}"
    COMPONENT core)
endfunction()
