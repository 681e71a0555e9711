// Importers: readers of what other programs write about a machine. Each fills a Survey with what its source says; what
// the source does not say stays unknown, where it is cut or contradicts itself a remark says so. A failure is one line:
// the file, the line where there is one, and the reason.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "topology/survey.hpp"

namespace weft::topology {

inline constexpr std::size_t kMaxImportBytes = std::size_t{8} << 20;
inline constexpr int kMaxImportDevices = 4096;  // on PCI, of one machine
inline constexpr std::size_t kMaxImportGpus = 1024;

// hwloc XML of generations 1, 2 and 3, whatever libhwloc is installed.
bool is_hwloc_xml(std::string_view text);
Result<Survey> read_hwloc_xml(const std::string& path, std::string_view text);

// NCCL_TOPO_DUMP_FILE and NCCL_TOPO_FILE: versions 1 (NCCL) and 2 (RCCL), whole dumps and the partial files of vendors.
bool is_nccl_xml(std::string_view text);
Result<Survey> read_nccl_xml(const std::string& path, std::string_view text);

// `nvidia-smi topo -m`, as printed or as pasted: with or without tabs, header, escape sequences and its last lines.
// `-p2p` says which devices there are, but not how near they are.
bool is_nvidia_smi(std::string_view text);
Result<Survey> read_nvidia_smi(const std::string& path, std::string_view text);

// `rocm-smi --showtopo`: which GPUs XGMI joins, and their NUMA nodes.
bool is_rocm_smi(std::string_view text);
Result<Survey> read_rocm_smi(const std::string& path, std::string_view text);

}  // namespace weft::topology
