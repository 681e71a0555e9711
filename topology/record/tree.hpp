// Recorded trees: folders and archives that hold the sys/ and proc/ of another machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "topology/survey.hpp"

namespace weft::topology {

// What the tree in a folder tells: the folder itself holds sys/, or the only folder in it that does. NotFound if there
// is none.
Result<Survey> survey_tree(const std::string& folder);
// Whether there is one, or several of which survey_tree() could not choose.
bool holds_tree(const std::string& folder);
// The same as survey_tree() of an archive: the file's, or `bytes` where they came through a pipe.
Result<Survey> survey_archive(const std::string& path, std::optional<std::string_view> bytes = {});

}  // namespace weft::topology
