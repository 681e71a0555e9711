# Flags that every target gets, and the three functions by which folders add to the build. Folders are globbed: adding a file
# is the whole job.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

option(WEFT_ASSERTIONS "Check WEFT_ASSERT" OFF)
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

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

# The .cpp files of the calling folder, compiled into libweft.
function(weft_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "namespace weft {}\n")
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
  endif()
  add_library(weft_${name} OBJECT ${sources})
  target_link_libraries(weft_${name} PRIVATE weft_flags)
  target_sources(weft PRIVATE $<TARGET_OBJECTS:weft_${name}>)
endfunction()

# The .cpp files of folder `name`, as program `name`.
function(weft_program name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE weft weft_flags ${ARGN})
  install(TARGETS ${name} RUNTIME)
endfunction()

# Every *_test.cpp of folder `area` (and below) becomes one program and one ctest entry: <area>.<file>.
function(weft_tests area)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${area}/*_test.cpp)
  file(GLOB support CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${area}/support/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${area}_${name} ${source} ${support})
    target_link_libraries(${area}_${name} PRIVATE weft weft_flags GTest::gmock GTest::gtest_main ${ARGN})
    add_test(NAME ${area}.${name} COMMAND ${area}_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${area}.${name} PROPERTIES TIMEOUT 600
      ENVIRONMENT "WEFT_TEST_BIN=${CMAKE_BINARY_DIR}/bin;UCX_WARN_UNUSED_ENV_VARS=n")
  endforeach()
endfunction()
