// MeasuredTable: what was measured on one topology, as bench/ writes it: times of algorithms, which decide before the
// cost model does, and the calibration, by which it estimates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/calibration.hpp"
#include "weft/status.hpp"
#include "weft/types.hpp"

namespace weft::algorithms {

// How long one algorithm took, as bench/ writes it.
struct MeasuredCell {
  Collective collective = Collective::Barrier;
  int ranks = 0;
  std::uint64_t bytes = 0;
  std::string algorithm;
  int channels = 1;
  std::int64_t time_ns = 0;

  bool operator==(const MeasuredCell&) const = default;
};

struct MeasuredTable {
  std::string fingerprint;  // of the graph it was measured on
  std::vector<MeasuredCell> cells;
  Calibration calibration = {};  // for what the cells do not tell

  // {"schema": 2, "fingerprint": "...", "cells": [{collective, ranks, bytes, algorithm, channels, time_ns}, ...],
  // "calibration": {...}}; the last may be missing, as in schema 1.
  // Corrupt says where; unknown keys are refused.
  static Result<MeasuredTable> from_json(std::string_view text);
  std::string to_json() const;
  // What a file of at most 16 MiB holds. Errors as of topology::read_file and from_json.
  static Result<MeasuredTable> load(const std::string& file);

  bool operator==(const MeasuredTable&) const = default;
};

}  // namespace weft::algorithms
