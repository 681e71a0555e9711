// libFuzzer target: clang++ -std=c++20 -fsanitize=fuzzer,address -I. -Iinclude tests/transports/store_frame_fuzz.cpp
//   transports/store/{frame,hello,printable}.cpp base/{assert,status}.cpp -lfmt
#include "tests/transports/store_frame_fuzz.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view input(reinterpret_cast<const char*>(data), bytes);
  weft::transports::check_any_bytes(input, {});
  weft::transports::check_any_bytes(input, {.key_bytes = 16, .value_bytes = 16});
  return 0;
}
