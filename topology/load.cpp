// load_survey(): finds out what kind of source it is. A folder or an archive holds a recorded tree; of a text the first
// lines tell. An importer is a row of the table; the first that recognises the text reads it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

#include "topology/fabric/fabric.hpp"
#include "topology/import/import.hpp"
#include "topology/limits.hpp"
#include "topology/load.hpp"
#include "topology/read_file.hpp"
#include "topology/record/tree.hpp"
#include "topology/record/unpack.hpp"
#include "topology/sources.hpp"
#include "topology/survey.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

struct Importer {
  std::string_view format;
  bool (*recognises)(std::string_view text);
  Result<Survey> (*read)(const std::string& path, std::string_view text);
};

bool starts_with_brace(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

// Weft's JSON of a cluster is long; what other programs write of one machine is not, nor is an archive in a pipe.
std::size_t most_bytes(std::string_view text) {
  const std::string_view head = without_byte_order_mark(text).substr(0, kHeadBytes);
  return starts_with_brace(head) && head.find("\"schema\"") != head.npos ? kMaxFileBytes : kMaxImportBytes;
}

Result<Survey> read_json(const std::string& path, std::string_view text) {
  Result<Survey> survey = survey_from_json(text);
  if (!survey) return std::move(survey).error().with_context(path);
  return survey;
}

Result<Survey> read_fabric_alone(const std::string& path, std::string_view text) { return read_fabric(path, text); }

constexpr Importer kImporters[] = {
    {"Weft JSON", starts_with_brace, read_json},
    {"NCCL or RCCL topology XML", is_nccl_xml, read_nccl_xml},
    {kHwlocXml, is_hwloc_xml, read_hwloc_xml},
    {"a fabric file", is_fabric_file, read_fabric_alone},
    {"the listing of ibnetdiscover", is_ibnetdiscover, read_fabric_alone},
    {kRocmSmi, is_rocm_smi, read_rocm_smi},
    {kNvidiaSmi, is_nvidia_smi, read_nvidia_smi},
};

// Reports and surveys begin with one of these members, other programs' JSON with others. It may be cut within the word.
bool begins_like_our_json(std::string_view text) {
  constexpr std::string_view kFirst[] = {"schema", "source", "graph"};
  text.remove_prefix(text.find('{') + 1);
  const std::size_t quote = text.find_first_not_of(" \t\r\n");
  if (quote == std::string_view::npos) return true;
  if (text[quote] != '"') return false;
  text.remove_prefix(quote + 1);
  const std::size_t end = text.find('"');
  const bool named = std::any_of(std::begin(kFirst), std::end(kFirst), [&](std::string_view name) {
    return end == std::string_view::npos ? name.starts_with(text) : text.substr(0, end) == name;
  });
  if (!named || end == std::string_view::npos || text.substr(0, end) != "schema") return named;
  // Ours is a number; others name theirs.
  const std::size_t value = text.find_first_not_of(": \t\r\n", end + 1);
  return value == std::string_view::npos || (text[value] >= '0' && text[value] <= '9');
}

}  // namespace

bool begins_like_survey(std::string_view path) {
  constexpr std::size_t kMatrixHeadBytes = std::size_t{1} << 16;  // within which a table of smi begins
  const std::string file(path);
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return holds_tree(file);
  const std::string bytes = read_head(file, kMatrixHeadBytes);
  const std::string_view head = without_byte_order_mark(bytes);
  if (head.empty() || is_archive(head)) return true;
  if (starts_with_brace(head)) return begins_like_our_json(head);
  return std::any_of(std::begin(kImporters), std::end(kImporters),
                     [&](const Importer& importer) { return importer.recognises(head); });
}

Result<Survey> load_survey(std::string_view path) {
  const std::string file(path);
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return survey_tree(file);
  if (is_archive(read_head(file, kArchiveHeadBytes))) return survey_archive(file);
  WEFT_TRY_ASSIGN(const std::string bytes, read_file(file, most_bytes));
  if (is_archive(bytes)) return survey_archive(file, bytes);
  const std::string_view text = without_byte_order_mark(bytes);
  for (const Importer& importer : kImporters) {
    if (!importer.recognises(text)) continue;
    WEFT_TRY_ASSIGN(Survey survey, importer.read(file, text));
    if (survey.source.empty()) survey.source = importer.format;
    return survey;
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return Status(Code::Corrupt, fmt::format("{}: is UTF-16; convert it with iconv -f UTF-16 -t UTF-8", file));
  std::string known;
  for (const Importer& importer : kImporters) known += fmt::format("{}{}", known.empty() ? "" : ", ", importer.format);
  return Status(Code::Corrupt, fmt::format("{}: is not a topology file; give {}", file, known));
}

Result<Graph> load(std::string_view path) {
  WEFT_TRY_ASSIGN(Survey survey, load_survey(path));
  return std::move(survey.graph);
}

}  // namespace weft::topology
