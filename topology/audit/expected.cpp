// NVLinks by PCI id. Ids: the PCI id repository and the list of supported GPUs of NVIDIA's driver; counts: NVIDIA's
// data sheets (bandwidth both ways over that of a link) and Azure/azurehpc-health-checks#162 for H100 NVL.
#include "topology/audit/expected.hpp"

namespace weft::topology::audit {
namespace {

struct Row {
  std::string_view device;
  int links;
  NvLinkUse use;
};

constexpr Row kRows[] = {
    {"10de:15f9", 4, NvLinkUse::Mesh},       // P100 SXM2
    {"10de:1db1", 6, NvLinkUse::Mesh},       // V100 SXM2 16 GB
    {"10de:1db5", 6, NvLinkUse::Mesh},       // V100 SXM2 32 GB
    {"10de:1df5", 6, NvLinkUse::Mesh},       // V100 SXM2 16 GB
    {"10de:1db8", 6, NvLinkUse::Switched},   // V100 SXM3 32 GB (DGX-2)
    {"10de:20b0", 12, NvLinkUse::Switched},  // A100 SXM4 40 GB
    {"10de:20b2", 12, NvLinkUse::Switched},  // A100 SXM4 80 GB
    {"10de:20b3", 12, NvLinkUse::Switched},  // A100 SXM 64 GB
    {"10de:20f3", 8, NvLinkUse::Switched},   // A800 SXM4 80 GB
    {"10de:2324", 8, NvLinkUse::Switched},   // H800
    {"10de:2329", 18, NvLinkUse::Switched},  // H20
    {"10de:2330", 18, NvLinkUse::Switched},  // H100 SXM5
    {"10de:2335", 18, NvLinkUse::Switched},  // H200 SXM5
    {"10de:2901", 18, NvLinkUse::Switched},  // B200
    {"10de:2941", 18, NvLinkUse::Switched},  // GB200
    {"10de:1e02", 2, NvLinkUse::Bridged},    // Titan RTX
    {"10de:1e04", 2, NvLinkUse::Bridged},    // RTX 2080 Ti
    {"10de:1e07", 2, NvLinkUse::Bridged},    // RTX 2080 Ti
    {"10de:1e30", 2, NvLinkUse::Bridged},    // Quadro RTX 6000 and 8000
    {"10de:1e78", 2, NvLinkUse::Bridged},    // Quadro RTX 6000 and 8000
    {"10de:2203", 4, NvLinkUse::Bridged},    // RTX 3090 Ti
    {"10de:2204", 4, NvLinkUse::Bridged},    // RTX 3090
    {"10de:2230", 4, NvLinkUse::Bridged},    // RTX A6000
    {"10de:2231", 4, NvLinkUse::Bridged},    // RTX A5000
    {"10de:2232", 4, NvLinkUse::Bridged},    // RTX A4500
    {"10de:2233", 4, NvLinkUse::Bridged},    // RTX A5500
    {"10de:2235", 4, NvLinkUse::Bridged},    // A40
    {"10de:20b7", 4, NvLinkUse::Bridged},    // A30
    {"10de:2321", 12, NvLinkUse::Bridged},   // H100 NVL
};

}  // namespace

std::optional<ExpectedNvLinks> expected_nvlinks(std::string_view device) {
  for (const Row& row : kRows)
    if (row.device == device) return ExpectedNvLinks{row.links, row.use};
  return std::nullopt;
}

}  // namespace weft::topology::audit
