// NCCL and RCCL topology XML: the document. What it means is nccl_machine's.
#include <fmt/format.h>

#include <cstddef>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "topology/import/import.hpp"
#include "topology/import/nccl_machine.hpp"
#include "topology/import/nccl_values.hpp"
#include "topology/import/source_text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 16;  // within which the first element begins
constexpr int kMaxDepth = 64;
constexpr int kMaxVersion = 2;  // RCCL's; NCCL writes 1

// What stands before the first element: blanks, comments, the XML declaration and a document type.
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

// Elements may hold elements, but not without end: what follows walks them by recursion.
Status check_depth(const std::string& path, std::string_view text, const pugi::xml_document& document) {
  int depth = 0;
  for (pugi::xml_node at = document; !at.empty();) {
    if (!at.first_child().empty()) {
      at = at.first_child();
      if (++depth > kMaxDepth)
        return import_error(path, line_at(text, static_cast<std::size_t>(at.offset_debug())),
                            fmt::format("elements are nested more than {} deep", kMaxDepth));
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

// Entities could grow without bound, and NCCL's files have none.
Status check_no_document_type(const std::string& path, std::string_view text, const pugi::xml_document& document) {
  for (const pugi::xml_node& node : document)
    if (node.type() == pugi::node_doctype)
      return import_error(path, line_at(text, text.find("<!DOCTYPE")),
                          "has a document type, which topology files of NCCL do not have; remove it");
  return {};
}

}  // namespace

bool is_nccl_xml(std::string_view text) { return first_element(text) == "system"; }

Result<Survey> read_nccl_xml(const std::string& path, std::string_view text) {
  WEFT_TRY(check_source_text(path, text));
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!parsed)
    return import_error(path, line_at(text, static_cast<std::size_t>(parsed.offset)),
                        fmt::format("is not well-formed XML, or cut: {}", parsed.description()));
  WEFT_TRY(check_no_document_type(path, text, document));
  WEFT_TRY(check_depth(path, text, document));
  const pugi::xml_node system = document.child("system");
  const std::size_t line = line_at(text, static_cast<std::size_t>(system.offset_debug()));
  const std::optional<long long> version = nccl::integer(system, "version");
  if (!system.attribute("version").empty() && (!version || *version < 1 || *version > kMaxVersion))
    return import_error(path, line,
                        fmt::format("has version \"{}\"; versions 1 and 2 are read",
                                    as_node_name(system.attribute("version").value())));
  if (system.child("cpu").empty()) return import_error(path, line, "has no <cpu> element, so it describes no machine");
  WEFT_TRY_ASSIGN(Survey survey, NcclMachine(path, text).read(system));
  if (version) survey.nccl_version = static_cast<int>(*version);
  return survey;
}

}  // namespace weft::topology
