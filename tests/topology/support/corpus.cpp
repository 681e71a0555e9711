// Files of the corpus.
#include "tests/topology/support/corpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace weft::topology::test {

std::vector<std::string> corpus_files(const std::string& folder, const std::string& ending) {
  const char* named = std::getenv("WEFT_CORPUS");
  const std::filesystem::path root = std::filesystem::path(named != nullptr ? named : "../shared/topologies") / folder;
  std::vector<std::string> files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(root, absent))
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace weft::topology::test
