// Recorded machines that are not part of the project: tests that read them say so where they are not there.
#pragma once

#include <string>
#include <vector>

namespace weft::topology::test {

// The files of one folder of the corpus that end so, sorted: WEFT_CORPUS names it, else ../shared/topologies is tried.
// None if it is not there.
std::vector<std::string> corpus_files(const std::string& folder, const std::string& ending);

}  // namespace weft::topology::test
