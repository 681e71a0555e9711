// Whether the IOMMU translates the addresses of devices.
#include "topology/audit/iommu.hpp"

namespace weft::topology::audit {

bool is_translated(const KernelFacts& kernel) {
  if (kernel.iommu_present == false) return false;
  if (kernel.iommu_type) return kernel.iommu_type->starts_with("DMA");
  if (!kernel.command_line) return false;
  const auto has = [&](const char* word) { return kernel.command_line->find(word) != std::string::npos; };
  if (has("iommu=pt") || has("iommu=off") || has("iommu.passthrough=1")) return false;
  return has("intel_iommu=on") || has("amd_iommu=on");
}

}  // namespace weft::topology::audit
