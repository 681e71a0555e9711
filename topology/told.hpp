// What a survey's source can tell of a host: where it cannot tell a thing, that thing is not missing. Asked by the
// audit and by diff, which must not judge differently.
#pragma once

#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

// Whether a GPU, or a NIC, that the survey does not show is not there: not so with NCCL XML of bus ids alone and with
// hwloc XML that was written without devices; NICs not with rocm-smi, nor with nvidia-smi's tables of -p2p.
bool tells_gpus(const Survey& survey, const Locality& locality, int host);
bool tells_nics(const Survey& survey, const Locality& locality, int host);

// Whether an NVLink that the survey does not show is not there: models, nvidia-smi where it states the class of all
// pairs, NCCL XML with a <gpu> for each GPU (cloud's own files leave that to NCCL), and NVML, which lists links that
// are not active.
bool tells_nvlinks(const Survey& survey, const Locality& locality, int host);

// NCCL knows only NUMA nodes with devices, nvidia-smi only those of GPUs.
bool tells_all_numa_nodes(const Survey& survey);

}  // namespace weft::topology
