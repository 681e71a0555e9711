// What mails, launchers and logs put before each line of a text.
#pragma once

#include <string>
#include <vector>

namespace weft::topology {

// Takes from the lines what all that are not blank begin with: "> " of a quotation, the same label ("0: " of srun -l,
// "node7: ", "[1,0]<stdout>:"), or the time. Several may stand before one another. A single line has no prefix.
void strip_shared_prefix(std::vector<std::string>& lines);

}  // namespace weft::topology
