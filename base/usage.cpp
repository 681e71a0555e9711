// Counts the entries of /proc/self.
#include "base/usage.hpp"

#include <filesystem>
#include <system_error>

namespace weft::base {
namespace {

int entries_of(const char* folder) {
  std::error_code error;
  int entries = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) ++entries;
  return entries;
}

}  // namespace

Usage usage_of_process() {
  const int descriptors = entries_of("/proc/self/fd");
  // One of them is the folder itself, while it is read.
  return {.descriptors = descriptors > 0 ? descriptors - 1 : 0, .threads = entries_of("/proc/self/task")};
}

}  // namespace weft::base
