// The table of bands.
#include "topology/export/bandwidth_bands.hpp"

#include <limits>

namespace weft::topology {
namespace {

// Colours differ in brightness as well as in hue, so that they can be told apart in grey and by everybody.
constexpr BandwidthBand kBands[] = {
    {5, "under 5 GB/s", "#8a8f98", "#8b919c", 1.2},
    {16, "5 to 16 GB/s", "#b3541e", "#f0883e", 1.6},
    {33, "16 to 33 GB/s", "#a37500", "#e3b341", 2.2},
    {66, "33 to 66 GB/s", "#2f7d32", "#56d364", 2.8},
    {130, "66 to 130 GB/s", "#00798c", "#39c5cf", 3.4},
    {300, "130 to 300 GB/s", "#1f5fbf", "#79b8ff", 4.2},
    {std::numeric_limits<double>::infinity(), "300 GB/s and more", "#7b2fbe", "#d2a8ff", 5.2},
};

}  // namespace

std::span<const BandwidthBand> bandwidth_bands() { return kBands; }

int bandwidth_band(double gbs) {
  int band = 0;
  while (gbs >= kBands[band].below_gbs) ++band;
  return band;
}

}  // namespace weft::topology
