# How the kernels are compiled, in every build type: vectorised, and avx2.cpp for its processors. -fno-trapping-math lets the
# compiler evaluate both sides of a choice; it changes exception flags, which nobody reads, and no result. A loop of eight
# instructions that straddles two cache lines runs at half speed (Zen 3), hence the alignment.
set(kernel_flags -O3 -falign-loops=64 -fno-trapping-math -fno-math-errno)
weft_compile_with("${kernel_flags}" ${CMAKE_CURRENT_SOURCE_DIR}/kernels/portable.cpp ${CMAKE_CURRENT_SOURCE_DIR}/kernels/multiply.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND kernel_flags -mavx2 -mf16c)
endif()
weft_compile_with("${kernel_flags}" ${CMAKE_CURRENT_SOURCE_DIR}/kernels/avx2.cpp)
