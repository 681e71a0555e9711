// Below the folder for temporary files, whichever the environment names.
#include "tests/support/temporary_folder.hpp"

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace weft::test {

TemporaryFolder::TemporaryFolder() {
  auto name = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace weft::test
