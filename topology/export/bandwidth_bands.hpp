// Bands of bandwidth, by which links are coloured in pictures: their limits lie between what is built.
#pragma once

#include <span>
#include <string_view>

namespace weft::topology {

struct BandwidthBand {
  double below_gbs;         // of the last: infinite
  std::string_view legend;  // "16 to 32 GB/s"
  std::string_view light;   // colours, on white
  std::string_view dark;    // and on black
  double width;             // of a line, in pixels
};

// From slow to fast.
std::span<const BandwidthBand> bandwidth_bands();
int bandwidth_band(double gbs);

}  // namespace weft::topology
