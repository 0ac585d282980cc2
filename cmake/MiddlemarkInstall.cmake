# Installs the CMake package `middlemark`: the core's headers and library, and middlemark_adapter(), for adapters in
# other repositories. Included by core/, whose library it exports.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/middlemark)

install(TARGETS core EXPORT middlemark ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT middlemark NAMESPACE middlemark:: FILE middlemarkTargets.cmake DESTINATION ${destination})
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION include/middlemark
        FILES_MATCHING PATTERN *.hpp PATTERN tests EXCLUDE PATTERN rust EXCLUDE PATTERN python EXCLUDE)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/middlemarkConfig.cmake.in ${PROJECT_BINARY_DIR}/middlemarkConfig.cmake
                              INSTALL_DESTINATION ${destination})
# Before 1.0 a minor version may change the contract.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/middlemarkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/middlemarkConfig.cmake ${PROJECT_BINARY_DIR}/middlemarkConfigVersion.cmake
        DESTINATION ${destination} COMPONENT probe)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/MiddlemarkAdapter.cmake ${PROJECT_SOURCE_DIR}/cmake/MiddlemarkCdr.cmake
              ${PROJECT_SOURCE_DIR}/cmake/MiddlemarkRust.cmake ${PROJECT_SOURCE_DIR}/cmake/main.cpp.in
              ${PROJECT_SOURCE_DIR}/cmake/crowd.cpp.in
        DESTINATION ${destination})
# Install the crate for adapters in Rust.
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/kit/rust/ DESTINATION ${destination}/rust
        FILES_MATCHING PATTERN *.rs PATTERN Cargo.toml PATTERN *.cpp PATTERN *_tests.rs EXCLUDE PATTERN target EXCLUDE)

# The files of a wheel go into the package; files of its "data" folder go next to bin/.
set(manual ${CMAKE_INSTALL_MANDIR}/man1)
if(SKBUILD_DATA_DIR)
  set(manual ${SKBUILD_DATA_DIR}/share/man/man1)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/docs/reference/middlemark.1 DESTINATION ${manual})

if(MIDDLEMARK_SUITE_DESTINATION)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/suites/ DESTINATION ${MIDDLEMARK_SUITE_DESTINATION})
endif()
if(MIDDLEMARK_STUDY_DESTINATION)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/studies/ DESTINATION ${MIDDLEMARK_STUDY_DESTINATION})
endif()
