// Recorded machines that are not part of the project: tests that read them say so where they are not there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft::topology::test {

// WEFT_CORPUS names its folder, else ../shared/topologies is tried. Nothing if it is not there.
std::optional<std::filesystem::path> corpus_folder();

// The files of one folder of the corpus that end so, sorted; none if it is not there.
std::vector<std::string> corpus_files(const std::string& folder, const std::string& ending);

}  // namespace weft::topology::test
