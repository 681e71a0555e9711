// A machine as NCCL topology XML, without a GPU job: what NCCL_TOPO_FILE takes.
#pragma once

#include <optional>
#include <string>

#include "topology/survey.hpp"

namespace weft::topology {

// `version`: 1 (NCCL) or 2 (RCCL, which NCCL refuses); without it that of the NCCL file that was read, else 1.
//
// What is not known is left out: NCCL completes it from the machine on which it runs. What the format cannot say is
// lost: packages, host bridges and ports (devices of one NUMA node are PHB to NCCL), measured rates. A device near
// several NUMA nodes, but not all, is put on the first. NUMA nodes without CPUs and devices are left out, and NICs
// that no fabric library drives where the file would be longer than NCCL reads. Buses of models, which have none, are
// numbered.
//
// InvalidArgument: several hosts, devices without bus ids, or more than the loader takes; it names what.
Result<std::string> to_nccl_xml(const Survey& survey, std::optional<int> version = {});

}  // namespace weft::topology
