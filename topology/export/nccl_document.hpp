// NcclElement: a NCCL topology document as a tree of elements, and its text, which is checked against everything that
// NCCL's loader demands beyond XML. The loader reads byte by byte: it knows no declaration, no entities and no tabs,
// wants one blank before each attribute, and has tables of fixed size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/status.hpp"

namespace weft::topology {

inline constexpr std::size_t kNcclMaxAttributes = 16;
inline constexpr std::size_t kNcclMaxValueBytes = 255;
inline constexpr std::size_t kNcclMaxChildren = 640;
inline constexpr std::size_t kNcclMaxElements = 256;

struct NcclElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<NcclElement> children;

  void set(std::string_view attribute, std::string value) { attributes.emplace_back(attribute, std::move(value)); }
};

std::size_t count_elements(const NcclElement& element);

// InvalidArgument names the element that the loader would not take, and the limit. `comment` stands below the first
// tag, where loaders of all ages skip it; it must be one line without "--".
Result<std::string> nccl_text(const NcclElement& system, std::string_view comment);

}  // namespace weft::topology
