# cmake --install: the programs, and what a program or an algorithm of one's own is built with (docs/own-algorithm.md).
# The package finds its place by its own file, so that all of it can be moved together.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tilescope RUNTIME)
if(TARGET tilescope-gui)
    install(TARGETS tilescope-gui RUNTIME)
endif()
install(TARGETS tilescope_lab tilescope_algorithms tilescope_core ARCHIVE)

# The headers include each other from the root of the sources, which is include/tilescope/ there.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(room core algorithms lab)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${room}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tilescope"
            FILES_MATCHING PATTERN "*.hpp" PATTERN "algorithms/cuda" EXCLUDE REGEX "algorithms/.*/kernel[.]hpp" EXCLUDE
            PATTERN "lab/flags" EXCLUDE PATTERN "lab/figure" EXCLUDE PATTERN "lab/own" EXCLUDE)
endforeach()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/tilescope")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tilescope-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/tilescope-config.cmake" INSTALL_DESTINATION "${package}"
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tilescope-config-version.cmake" COMPATIBILITY ExactVersion)
install(FILES "${PROJECT_BINARY_DIR}/tilescope-config.cmake" "${PROJECT_BINARY_DIR}/tilescope-config-version.cmake"
        DESTINATION "${package}")

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/docs/own-algorithm.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
