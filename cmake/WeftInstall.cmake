# install(): headers, library, find_package(weft) and weft.pc.
include(CMakePackageConfigHelpers)

install(TARGETS weft EXPORT weft-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
