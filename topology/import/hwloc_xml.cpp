// hwloc XML: the document, and the graph that the phases of a probe make of its objects.
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "topology/import/hwloc_facts.hpp"
#include "topology/import/hwloc_objects_xml.hpp"
#include "topology/import/import.hpp"
#include "topology/import/remarks.hpp"
#include "topology/import/source_text.hpp"
#include "topology/import/xml_document.hpp"
#include "topology/probe/machine_probe.hpp"
#include "topology/read_file.hpp"
#include "topology/sources.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

void tell_of_second_machine(std::string_view text, const pugi::xml_node& machine, Remarks& remarks) {
  if (const pugi::xml_node second = machine.next_sibling("object"); !second.empty())
    remarks.incomplete(line_of(text, second),
                       "a second machine begins here, which is not read: the first is; give each "
                       "in a file of its own");
}

}  // namespace

bool is_hwloc_xml(std::string_view text) { return first_element(text) == "topology"; }

Result<Survey> read_hwloc_xml(const std::string& path, std::string_view text) {
  pugi::xml_document document;
  WEFT_TRY(parse_xml(path, text, "topology", document));
  HwlocXml xml(path, text);
  WEFT_TRY_ASSIGN(const ObjectTree tree, xml.read(document.child("topology")));
  Remarks remarks(path);
  remarks.beside_root(line_beside_root(text, document));
  tell_of_second_machine(text, document.child("topology").child("object"), remarks);
  document.reset();
  MachineProbe machine(tree, "", "hwloc");
  if (const Status status = run_phases(machine); !status.ok()) return import_error(path, 0, status.message());
  Survey survey;
  survey.hosts = {hwloc_facts(machine)};
  find_contradictions(tree, remarks);
  survey.remarks = remarks.take();
  survey.graph = std::move(machine.graph);
  survey.source = kHwlocXml + (xml.generation() == 1 ? "" : " " + std::to_string(xml.generation()));
  return survey;
}

Result<Graph> from_hwloc_xml(std::string_view path) {
  const std::string file(path);
  WEFT_TRY_ASSIGN(const std::string bytes, read_file(file, kMaxImportBytes));
  const std::string_view text = without_byte_order_mark(bytes);
  if (!is_hwloc_xml(text)) return import_error(file, 0, "is not hwloc XML: its first element is not <topology>");
  WEFT_TRY_ASSIGN(Survey survey, read_hwloc_xml(file, text));
  return std::move(survey.graph);
}

}  // namespace weft::topology
