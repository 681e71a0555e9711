// Files of the corpus.
#include "tests/topology/support/corpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace weft::topology::test {

std::optional<std::filesystem::path> corpus_folder() {
  const char* named = std::getenv("WEFT_CORPUS");
  const std::filesystem::path folder = named != nullptr ? named : "../shared/topologies";
  std::error_code absent;
  if (!std::filesystem::is_directory(folder, absent)) return std::nullopt;
  return folder;
}

std::vector<std::string> corpus_files(const std::string& folder, const std::string& ending) {
  std::vector<std::string> files;
  const std::optional<std::filesystem::path> root = corpus_folder();
  if (!root) return files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(*root / folder, absent))
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace weft::topology::test
