# What Weft is built on. All from Debian 12; see tools/packages.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(UCX REQUIRED IMPORTED_TARGET ucx)
find_package(pugixml REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
if(NOT DEFINED WEFT_TESTS OR WEFT_TESTS)
  find_package(GTest REQUIRED)
endif()
find_package(benchmark QUIET)  # micro-benchmarks are built where it is present
