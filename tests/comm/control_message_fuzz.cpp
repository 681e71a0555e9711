// libFuzzer target: compile with clang++ -fsanitize=fuzzer,address and link libweft.
#include "tests/comm/control_message_fuzz.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  weft::comm::check_any_control_bytes(std::string_view(reinterpret_cast<const char*>(data), bytes));
  return 0;
}
