// Sizes that all parts of a host's picture share, in the units of the picture.
#pragma once

#include "weft/graph.hpp"

namespace weft::topology {

inline constexpr double kPadding = 10;
inline constexpr double kDeviceWidth = 236;
inline constexpr double kRowHeight = 42;
inline constexpr double kRowGap = 8;
inline constexpr double kMarkRoom = 22;

inline bool is_device(NodeKind kind) { return kind == NodeKind::Gpu || kind == NodeKind::Nic; }
inline bool is_bar(NodeKind kind) { return kind == NodeKind::PciBridge || kind == NodeKind::PciSwitch; }
inline bool is_io(NodeKind kind) { return is_device(kind) || is_bar(kind); }

}  // namespace weft::topology
