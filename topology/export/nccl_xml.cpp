// to_nccl_xml(): checks, and what is left out where the file would be too long.
#include "topology/export/nccl_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "topology/export/nccl_document.hpp"
#include "topology/export/nccl_tree.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxVersion = 2;

// A comment may not hold what ends it, nor anything else that a foreign file brought.
std::string plain(std::string_view text) {
  std::string word;
  for (char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ' ' || c == '.' || c == '_') word += c;
  return word;
}

bool has_fabric(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.kind == NodeKind::Nic && node.fabric; });
}

}  // namespace

Result<std::string> to_nccl_xml(const Survey& survey, std::optional<int> version) {
  const int chosen = version.value_or(survey.nccl_version.value_or(1));
  if (chosen < 1 || chosen > kMaxVersion)
    return Status(Code::InvalidArgument,
                  fmt::format("NCCL topology XML: version {} does not exist; give 1 or 2", chosen));
  if (const int hosts = survey.graph.hosts(); hosts != 1)
    return Status(Code::InvalidArgument,
                  fmt::format("NCCL topology XML: describes one host, this is {}; export each alone", hosts));
  std::string comment = fmt::format("written by Weft from: {}", plain(survey.source));
  WEFT_TRY_ASSIGN(NcclElement system, NcclTree(survey, false).system(chosen));
  if (count_elements(system) > kNcclMaxElements && has_fabric(survey.graph)) {
    WEFT_TRY_ASSIGN(system, NcclTree(survey, true).system(chosen));
    comment += fmt::format("; without NICs that no fabric library drives, as NCCL reads at most {} elements",
                           kNcclMaxElements);
  }
  return nccl_text(system, comment);
}

}  // namespace weft::topology
