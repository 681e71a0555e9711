// write_record(): a machine as an archive that is read back like the live one, for a report to somebody else.
#pragma once

#include <string>

#include "weft/status.hpp"

namespace weft::topology {

struct RecordOptions {
  std::string root = "/";
  // Host names, hardware and network addresses, GUIDs, UUIDs and serial numbers are replaced, equal ones by equal ones;
  // values of the environment that look like paths or addresses are left out.
  bool anonymise = false;
};

// Writes <path> whole or not at all: its ending says how it is compressed (.tar.bz2, .tbz2, .tar.gz, .tgz, .tar.xz,
// .txz, .tar: not); InvalidArgument for others. It holds what the probe and the readers of facts read of this machine;
// what may not be read is left out.
Status write_record(const std::string& path, const RecordOptions& options = {});

}  // namespace weft::topology
