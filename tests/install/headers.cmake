# Every public header compiles on its own, with nothing included before it: a source file for each.
file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/weft/*.hpp ${PROJECT_SOURCE_DIR}/include/weft/*.h)
set(sources)
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp CONTENT "#include <${header}>\n#include <${header}>\n")
  list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
endforeach()
add_library(weft_headers OBJECT ${sources})
target_include_directories(weft_headers PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_features(weft_headers PRIVATE cxx_std_20)
target_compile_options(weft_headers PRIVATE -Wall -Wextra -Wpedantic -Werror)
