// Measuring, and the file of what was measured.
#include "measuring.hpp"

#include "base/json_writer.hpp"
#include "base/output.hpp"
#include "topology/measure/measure.hpp"

namespace weft::topo_probe {

std::string corrected_json(const topology::Survey& survey) {
  topology::Survey corrected = survey;
  corrected.graph = topology::corrected(survey);
  base::JsonWriter json;
  json.begin_object(base::JsonWriter::Layout::Lines);
  json.member("schema", 1);
  write_survey(json, corrected);
  json.end_object();
  return std::move(json).text();
}

Status measure_if_asked(const Arguments& arguments, topology::Survey& survey) {
  if (!arguments.measure) return {};
  if (arguments.write_corrected) WEFT_TRY(base::check_writable(*arguments.write_corrected));
  topology::measure(survey);
  if (arguments.write_corrected) WEFT_TRY(base::write_file(*arguments.write_corrected, corrected_json(survey)));
  return {};
}

}  // namespace weft::topo_probe
