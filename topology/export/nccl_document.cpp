// The text of a NCCL topology document, and what its loader does not take.
#include "topology/export/nccl_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"

namespace weft::topology {
namespace {

// As it stands in the text, to be found there: <pci busid="0000:c1:00.0">.
std::string tag_of(const NcclElement& element) {
  if (element.attributes.empty()) return fmt::format("<{}>", element.name);
  const auto& [name, value] = element.attributes.front();
  return fmt::format("<{} {}=\"{}\">", element.name, name, value);
}

Status refuse(const NcclElement& element, std::string_view reason) {
  return Status(Code::InvalidArgument, fmt::format("NCCL topology XML: {} {}", tag_of(element), reason));
}

// A value is taken as it stands between its quotes: what XML would write as an entity cannot be said.
bool is_plain(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '<' || c == '>' || c == '&';
  });
}

Status check_attributes(const NcclElement& element) {
  if (element.attributes.size() > kNcclMaxAttributes)
    return refuse(element, fmt::format("has {} attributes; NCCL reads at most {}", element.attributes.size(),
                                       kNcclMaxAttributes));
  for (const auto& [name, value] : element.attributes) {
    if (value.size() > kNcclMaxValueBytes)
      return refuse(element, fmt::format("has a {} of {} characters; NCCL reads at most {}", name, value.size(),
                                         kNcclMaxValueBytes));
    if (!is_plain(value))
      return refuse(element, fmt::format("has a {} with a quote, angle bracket, ampersand or control character, which "
                                         "NCCL cannot read; rename it",
                                         name));
  }
  return {};
}

Status write(const NcclElement& element, std::size_t depth, std::string& text) {
  WEFT_TRY(check_attributes(element));
  if (element.children.size() > kNcclMaxChildren)
    return refuse(element, fmt::format("has {} elements in it; NCCL reads at most {}", element.children.size(),
                                       kNcclMaxChildren));
  const std::string indent(2 * depth, ' ');
  text += indent + "<" + element.name;
  for (const auto& [name, value] : element.attributes) text += fmt::format(" {}=\"{}\"", name, value);
  if (element.children.empty()) {
    text += "/>\n";
    return {};
  }
  text += ">\n";
  for (const NcclElement& child : element.children) WEFT_TRY(write(child, depth + 1, text));
  text += indent + "</" + element.name + ">\n";
  return {};
}

}  // namespace

std::size_t count_elements(const NcclElement& element) {
  std::size_t count = 1;
  for (const NcclElement& child : element.children) count += count_elements(child);
  return count;
}

Result<std::string> nccl_text(const NcclElement& system, std::string_view comment) {
  WEFT_ASSERT(comment.find("--") == std::string_view::npos && comment.find('\n') == std::string_view::npos);
  if (const std::size_t count = count_elements(system); count > kNcclMaxElements)
    return Status(
        Code::InvalidArgument,
        fmt::format("NCCL topology XML: the machine needs {} elements, NCCL reads at most {}; export a machine "
                    "with fewer NICs, or one host of it",
                    count, kNcclMaxElements));
  std::string text;
  WEFT_TRY(write(system, 0, text));
  if (!comment.empty() && !system.children.empty())
    text.insert(text.find('\n') + 1, fmt::format("  <!-- {} -->\n", comment));
  return text;
}

}  // namespace weft::topology
