# Flags that every target gets, and the three functions by which folders add to the build. Folders are globbed: adding a file
# is the whole job.
include(GNUInstallDirs)

find_program(WEFT_CCACHE ccache DOC "Used where it is present; speeds up what was compiled before")
if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Independent of where the checkout lies, so that a fresh clone profits too.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${WEFT_CCACHE})
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# Installed programs find libweft beside them, wherever the tree was moved.
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(WEFT_INSTALL_RPATH $ORIGIN/${bin_to_lib})

option(WEFT_ASSERTIONS "Check WEFT_ASSERT" OFF)
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
set(WEFT_COVERAGE "" CACHE STRING "Count the executed lines of sources whose path matches this pattern; see tools/coverage")

add_library(weft_flags INTERFACE)
target_compile_options(weft_flags INTERFACE -Wall -Wextra -Wpedantic -Werror -ffp-contract=off)
target_include_directories(weft_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
if(WEFT_ASSERTIONS)
  target_compile_definitions(weft_flags INTERFACE WEFT_ASSERTIONS=1)
endif()
if(WEFT_SANITIZE)
  target_compile_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

# Nobody may replace one of the library's functions by his own, so they can be inlined and called directly.
add_library(weft_library_flags INTERFACE)
target_compile_options(weft_library_flags INTERFACE -fno-semantic-interposition)

# Reads headers that nearly every file includes once for all files of `target`: those given, and the standard library's. The first
# target of a `kind` does so for the others, which have the same flags. Not with ccache, where it would be a loss: each object would
# depend on all of these headers. Files still include what they use; builds with ccache see to it.
function(weft_precompile target kind)
  if(WEFT_CCACHE)
    return()
  endif()
  get_property(first GLOBAL PROPERTY weft_headers_of_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <functional> <map> <memory> <optional> <string> <string_view> <vector> ${ARGN})
    set_property(GLOBAL PROPERTY weft_headers_of_${kind} ${target})
  endif()
endfunction()

# What waits for files, devices and people is optimised less: 1,000 hosts are merged in the same time with -Og and with -O3, whose
# compilation takes half as long again. The same options for all of the target, because its precompiled headers depend on them.
function(weft_compile_soon target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# Compiles `files` with `options` besides their target's and those of an earlier call; precompiled headers were made without these.
function(weft_compile_with options)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS "${options}")
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# The .cpp files of the calling folder, compiled into libweft. Further arguments are headers of its own that most of them include.
function(weft_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(weft_${name} OBJECT ${sources})
  target_link_libraries(weft_${name} PRIVATE weft_flags weft_library_flags fmt::fmt spdlog::spdlog)
  target_sources(weft PRIVATE $<TARGET_OBJECTS:weft_${name}>)
  if(ARGN)
    weft_precompile(weft_${name} ${name} <fmt/format.h> ${ARGN})
  else()
    weft_precompile(weft_${name} module <fmt/format.h>)
  endif()
  if(WEFT_COVERAGE)
    set(counted ${sources})
    list(FILTER counted INCLUDE REGEX "${WEFT_COVERAGE}")
    weft_compile_with("--coverage;-O0" ${counted})
    target_link_options(weft PRIVATE --coverage)
  endif()
endfunction()

# The .cpp files of folder `name`, as program `name`. All but main.cpp are the object library <name>_parts, which tests link, too.
function(weft_program name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  add_library(${name}_parts OBJECT ${sources})
  target_link_libraries(${name}_parts PUBLIC weft weft_flags fmt::fmt spdlog::spdlog CLI11::CLI11)
  add_executable(${name} ${name}/main.cpp)
  target_link_libraries(${name} PRIVATE ${name}_parts)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH ${WEFT_INSTALL_RPATH})
  install(TARGETS ${name} RUNTIME)
endfunction()

# Every *_test.cpp of folder `area` (and below) becomes one program and one ctest entry, <area>.<file>; the target <area>_tests is
# all of them. A line "// ctest: serial ucx" in a test says: run alone (it times something, or needs every core), and label "ucx"
# (see the tsan preset).
function(weft_tests area)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${area}/*_test.cpp)
  file(GLOB support CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${area}/support/*.cpp)
  set(libraries weft weft_flags fmt::fmt spdlog::spdlog GTest::gmock ${ARGN})
  if(support)
    add_library(${area}_support OBJECT ${support})
    target_link_libraries(${area}_support PRIVATE ${libraries})
    list(APPEND libraries ${area}_support)
    weft_precompile(${area}_support support <gmock/gmock.h>)
  endif()
  add_custom_target(${area}_tests)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${area}_${name} ${source})
    add_dependencies(${area}_tests ${area}_${name})
    target_link_libraries(${area}_${name} PRIVATE ${libraries} GTest::gtest_main)
    weft_precompile(${area}_${name} test <gmock/gmock.h>)
    add_test(NAME ${area}.${name} COMMAND ${area}_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    weft_test_marks(${source} marks)
    set(serial OFF)
    if("serial" IN_LIST marks)
      set(serial ON)
    endif()
    list(REMOVE_ITEM marks serial)
    set_tests_properties(${area}.${name} PROPERTIES TIMEOUT 600 RUN_SERIAL ${serial} LABELS "${area};${marks}"
      ENVIRONMENT "WEFT_TEST_BIN=${CMAKE_BINARY_DIR}/bin;UCX_WARN_UNUSED_ENV_VARS=n;UCX_MEM_EVENTS=n")
  endforeach()
endfunction()

# The words of the line "// ctest: ..." of a test; tests with "ucx" in their name carry that label anyway.
function(weft_test_marks source result)
  file(STRINGS ${source} line REGEX "^// ctest: " LIMIT_COUNT 1)
  string(REPLACE "// ctest: " "" line "${line}")
  string(REPLACE " " ";" marks "${line}")
  if(source MATCHES "ucx[^/]*$")
    list(APPEND marks ucx)
  endif()
  list(REMOVE_DUPLICATES marks)
  set(${result} ${marks} PARENT_SCOPE)
endfunction()
