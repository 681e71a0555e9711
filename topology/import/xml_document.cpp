// XML with bounds.
#include "topology/import/xml_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "topology/import/source_text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 16;  // within which the first element begins
constexpr int kMaxDepth = 64;
// The parser takes 64 bytes for each element or text and 40 for each attribute: bounded before it starts.
constexpr std::ptrdiff_t kMaxElements = std::ptrdiff_t{1} << 18;  // start and end tags
constexpr std::ptrdiff_t kMaxAttributes = 3 * kMaxElements / 2;

Status check_numbers(const std::string& path, std::string_view text) {
  const std::ptrdiff_t tags = std::count(text.begin(), text.end(), '<');
  const std::ptrdiff_t attributes = std::count(text.begin(), text.end(), '=');
  if (tags > kMaxElements) return import_error(path, 0, fmt::format("has more than {} tags", kMaxElements));
  if (attributes > kMaxAttributes)
    return import_error(path, 0, fmt::format("has more than {} attributes", kMaxAttributes));
  return {};
}

// An element has each attribute once; the parser keeps all, and who asks sees the first.
Status check_attributes(const std::string& path, std::string_view text, const pugi::xml_node& element,
                        std::vector<std::string_view>& names) {
  names.clear();
  for (const pugi::xml_attribute& attribute : element.attributes()) names.emplace_back(attribute.name());
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return import_error(path, line_of(text, element),
                      fmt::format("is not well-formed XML: <{}> has the attribute {} twice",
                                  as_node_name(element.name()), as_node_name(*twice)));
}

// Elements may hold elements, but not without end: what follows walks them by recursion.
Status check_elements(const std::string& path, std::string_view text, const pugi::xml_document& document) {
  int depth = 0;
  std::vector<std::string_view> names;
  for (pugi::xml_node at = document; !at.empty();) {
    WEFT_TRY(check_attributes(path, text, at, names));
    if (!at.first_child().empty()) {
      at = at.first_child();
      if (++depth > kMaxDepth)
        return import_error(path, line_of(text, at), fmt::format("elements are nested more than {} deep", kMaxDepth));
      continue;
    }
    while (!at.empty() && at.next_sibling().empty()) {
      at = at.parent();
      --depth;
    }
    if (!at.empty()) at = at.next_sibling();
  }
  return {};
}

// A document type may name the file that describes it, as hwloc's does. Entities could grow without bound.
Status check_document_type(const std::string& path, std::string_view text, const pugi::xml_document& document) {
  for (const pugi::xml_node& node : document)
    if (node.type() == pugi::node_doctype && std::string_view(node.value()).find('[') != std::string_view::npos)
      return import_error(
          path, line_at(text, text.find("<!DOCTYPE")),
          "has a document type with declarations (entities), which topology files do not have; remove it");
  return {};
}

Status check_one_root(const std::string& path, std::string_view text, const char* root,
                      const pugi::xml_document& document) {
  for (const pugi::xml_node& node : document) {
    if (node.type() != pugi::node_element || std::string_view(node.name()) == root) continue;
    return import_error(path, line_of(text, node),
                        fmt::format("<{}> beside <{}>: give one file for each", as_node_name(node.name()), root));
  }
  const pugi::xml_node first = document.child(root);
  if (const pugi::xml_node second = first.next_sibling(root); !second.empty())
    return import_error(path, line_of(text, second),
                        fmt::format("a second <{}>: the file holds two machines; give one file for each", root));
  return {};
}

}  // namespace

std::string_view first_element(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  text = text.substr(0, kHeadBytes);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (;;) {
    const std::size_t at = text.find_first_not_of(" \t\r\n");
    if (at == std::string_view::npos || text[at] != '<') return {};
    text.remove_prefix(at);
    const bool comment = text.starts_with("<!--");
    if (!comment && !text.starts_with("<!") && !text.starts_with("<?")) break;
    std::size_t end = text.find(comment ? "-->" : ">");
    // An internal subset holds '>' of its own; it ends with "]>".
    if (text.starts_with("<!DOCTYPE") && text.find('[') < end) end = text.find('>', text.find(']'));
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + (comment ? 3 : 1));
  }
  return text.substr(1, text.find_first_of(" \t\r\n/>", 1) - 1);
}

std::size_t line_of(std::string_view text, const pugi::xml_node& element) {
  return line_at(text, static_cast<std::size_t>(std::max<std::ptrdiff_t>(element.offset_debug(), 0)));
}

std::optional<std::size_t> line_beside_root(std::string_view text, const pugi::xml_document& document) {
  for (const pugi::xml_node& node : document)
    if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) {
      const auto start = static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
      return line_at(text, text.find_first_not_of(" \t\r\n", start));
    }
  return std::nullopt;
}

Status parse_xml(const std::string& path, std::string_view text, const char* root, pugi::xml_document& document) {
  WEFT_TRY(check_source_text(path, text));
  WEFT_TRY(check_numbers(path, text));
  const pugi::xml_parse_result parsed = document.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_doctype | pugi::parse_fragment, pugi::encoding_utf8);
  if (!parsed)
    return import_error(path, line_at(text, static_cast<std::size_t>(parsed.offset)),
                        fmt::format("is not well-formed XML, or cut: {}", parsed.description()));
  WEFT_TRY(check_document_type(path, text, document));
  WEFT_TRY(check_elements(path, text, document));
  return check_one_root(path, text, root, document);
}

}  // namespace weft::topology
