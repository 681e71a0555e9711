// Fuzz target: any bytes as an archive, and as the target of a link in one. Either they are refused with one line, or
// they are a folder in which no link leads out; nothing is left behind.
//
// With libFuzzer: tools/fuzz archive. Without it, topology.archive_fuzz_test runs seeds and seeded mutations through
// it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "topology/record/tree_links.hpp"
#include "topology/record/unpack.hpp"

namespace {

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace weft::topology;
  const weft::base::FileDescriptor file(::memfd_create("archive", MFD_CLOEXEC));
  require(file && ::write(file.get(), data, bytes) == static_cast<ssize_t>(bytes) &&
          ::lseek(file.get(), 0, SEEK_SET) == 0);
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  std::string folder;
  {
    const auto unpacked = UnpackedArchive::unpack(path);
    if (!unpacked) {
      const std::string message(unpacked.error().message());
      require(!message.empty() && message.find('\n') == std::string::npos);
      return 0;
    }
    folder = unpacked->folder();
    const weft::Status links = check_links(folder);
    require(links.ok() || links.message().find("longer than") != std::string_view::npos);
  }
  require(!std::filesystem::exists(folder));
  return 0;
}
