// Fuzz target: any bytes as a report of topo-probe. Either they are refused as Corrupt with one line, or they are a
// sound survey that reads back equal. Long texts, which are checked before they are kept, are judged as short ones are.
//
// With libFuzzer: tools/fuzz survey_json. Without it, topology.survey_json_fuzz_test runs seeds and seeded mutations
// through it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "topology/survey.hpp"

namespace {

using weft::Result;
using weft::topology::Survey;

constexpr std::size_t kLong = std::size_t{257} << 10;
constexpr int kEveryLong = 64;  // of so many inputs one is made long

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

std::string json_of(const Survey& survey) {
  weft::base::JsonWriter json;
  json.begin_object();
  write_survey(json, survey);
  json.end_object();
  return std::move(json).text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  const Result<Survey> survey = weft::topology::survey_from_json(text);
  if (survey) {
    require(survey->graph.check().ok());
    const Result<Survey> again = weft::topology::survey_from_json(json_of(*survey));
    require(again.has_value() && *again == *survey);
  } else {
    const std::string message(survey.error().message());
    require(survey.error().code() == weft::Code::Corrupt && message.find('\n') == std::string::npos);
  }
  static int inputs = 0;
  if (++inputs % kEveryLong != 0 || text.size() > kLong) return 0;
  const Result<Survey> of_long = weft::topology::survey_from_json(std::string(text) + std::string(kLong, ' '));
  require(of_long.has_value() == survey.has_value() && (!survey || *of_long == *survey));
  return 0;
}
