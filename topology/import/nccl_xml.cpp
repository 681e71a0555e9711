// NCCL and RCCL topology XML: the document. What it means is nccl_machine's.
#include <fmt/format.h>

#include <cstddef>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "topology/import/import.hpp"
#include "topology/import/nccl_left_out.hpp"
#include "topology/import/nccl_machine.hpp"
#include "topology/import/nccl_values.hpp"
#include "topology/import/source_text.hpp"
#include "topology/import/xml_document.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxVersion = 2;  // RCCL's; NCCL writes 1

}  // namespace

bool is_nccl_xml(std::string_view text) { return first_element(text) == "system"; }

Result<Survey> read_nccl_xml(const std::string& path, std::string_view text) {
  pugi::xml_document document;
  WEFT_TRY(parse_xml(path, text, "system", document));
  const pugi::xml_node system = document.child("system");
  const std::size_t line = line_of(text, system);
  const std::optional<long long> version = nccl::integer(system, "version");
  if (!system.attribute("version").empty() && (!version || *version < 1 || *version > kMaxVersion))
    return import_error(path, line,
                        fmt::format("has version \"{}\"; versions 1 and 2 are read",
                                    as_node_name(system.attribute("version").value())));
  if (system.child("cpu").empty()) return import_error(path, line, "has no <cpu> element, so it describes no machine");
  NcclMachine machine(path, text);
  machine.remarks().beside_root(line_beside_root(text, document));
  nccl::tell_of_left_out(text, system, machine.remarks());
  WEFT_TRY_ASSIGN(Survey survey, machine.read(system));
  survey.nccl_version = static_cast<int>(version.value_or(1));
  return survey;
}

}  // namespace weft::topology
