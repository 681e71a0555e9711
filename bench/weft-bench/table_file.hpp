// The file of --table: what --tune and --calibrate measured on one topology, each keeping what the other wrote.
#pragma once

#include <string>
#include <vector>

#include "algorithms/measured_table.hpp"

namespace weft::bench {

// What was known, without the cells that `cells` measured anew: those of the same collective and number of ranks.
// InvalidArgument if the table is of another topology.
Result<algorithms::MeasuredTable> merged(algorithms::MeasuredTable known, const std::string& fingerprint,
                                         const std::vector<algorithms::MeasuredCell>& cells);
// The same with a calibration: what it measured anew replaces what was known.
Result<algorithms::MeasuredTable> merged(algorithms::MeasuredTable known, const std::string& fingerprint,
                                         const algorithms::Calibration& calibration);

// What update_table would complain about, as far as it can be told before anything is measured.
Status check_table(const std::string& file, const std::string& fingerprint);
// Reads the file, if it is there, and writes it with what is new. An error names --table and the file.
Status update_table(const std::string& file, const std::string& fingerprint,
                    const std::vector<algorithms::MeasuredCell>& cells);
Status update_table(const std::string& file, const std::string& fingerprint,
                    const algorithms::Calibration& calibration);

}  // namespace weft::bench
