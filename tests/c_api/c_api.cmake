# The C API as C programs see it: C99, without extensions, and the public header alone.
enable_language(C)
if(WEFT_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
add_library(weft_c_flags INTERFACE)
target_link_libraries(weft_c_flags INTERFACE weft weft_flags Threads::Threads)
target_compile_options(weft_c_flags INTERFACE -Wstrict-prototypes)

# Compiling is the test.
add_library(weft_c_abi OBJECT c_api/abi.c)
target_link_libraries(weft_c_abi PRIVATE weft_c_flags)
foreach(header IN ITEMS version weft)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}_h.c
    CONTENT "#include <weft/${header}.h>\n#include <weft/${header}.h>\ntypedef int not_empty;\n")
  target_sources(weft_c_abi PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}_h.c)
endforeach()

weft_tests(c_api weft_test_support)
add_dependencies(c_api_tests weft_c_abi)

# Programs whose ranks are threads, and one for launchers.
add_library(weft_c_ranks STATIC c_api/support/ranks.c)
target_link_libraries(weft_c_ranks PUBLIC weft_c_flags)
foreach(name IN ITEMS collectives uneven quantised errors requests messages objects communicators operators launched)
  add_executable(c_api_${name} c_api/programs/${name}.c)
  target_link_libraries(c_api_${name} PRIVATE weft_c_ranks)
  add_dependencies(c_api_tests c_api_${name})
  if(NOT name STREQUAL launched)
    add_test(NAME c_api.${name} COMMAND c_api_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(c_api.${name} PROPERTIES TIMEOUT 600 LABELS c_api
      ENVIRONMENT "UCX_WARN_UNUSED_ENV_VARS=n;UCX_MEM_EVENTS=n")  # as weft_tests() has it
  endif()
endforeach()
add_dependencies(c_api_launched_test c_api_launched)

# The first C block of docs/c-api.md, so that what it shows compiles and, by launched_test, runs.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/c-api.md)
file(READ ${PROJECT_SOURCE_DIR}/docs/c-api.md page)
string(FIND "${page}" "```c\n" begin)
string(SUBSTRING "${page}" ${begin} -1 rest)
string(SUBSTRING "${rest}" 5 -1 rest)
string(FIND "${rest}" "```" length)
string(SUBSTRING "${rest}" 0 ${length} example)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/c_api_example.c CONTENT "@example@" @ONLY)
add_executable(c_api_example ${CMAKE_CURRENT_BINARY_DIR}/c_api_example.c)
target_link_libraries(c_api_example PRIVATE weft_c_flags)
add_dependencies(c_api_launched_test c_api_example)
