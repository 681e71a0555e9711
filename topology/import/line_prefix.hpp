// What mails, launchers and logs put before each line of a text.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weft::topology {

// Takes from the lines what all that are not blank begin with: "> " of a quotation, the same label ("0: " of srun -l,
// "node7: ", "[1,0]<stdout>:"), or the time. Several may stand before one another. A single line has no prefix.
void strip_shared_prefix(std::vector<std::string>& lines);

// What one of several ranks printed.
struct LabelledLines {
  std::string label;                                       // "0:"
  std::vector<std::pair<std::size_t, std::string>> lines;  // their places, and what is behind the label
};
// By such labels, in the order in which these first appear: where all lines that are not blank begin with one, and they
// differ. Nothing elsewhere.
std::vector<LabelledLines> lines_by_label(const std::vector<std::string>& lines);

}  // namespace weft::topology
