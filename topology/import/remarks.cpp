// Remarks of an importer.
#include "topology/import/remarks.hpp"

#include <fmt/format.h>

#include "base/plural.hpp"
#include "topology/import/source_text.hpp"

namespace weft::topology {

void Remarks::add(RemarkKind kind, std::size_t line, std::string evidence) {
  if (full()) {
    ++more_;
    return;
  }
  remarks_.push_back({kind, line == 0 ? file_ : fmt::format("{}:{}", file_, line), std::move(evidence)});
}

void Remarks::beside_root(const std::optional<std::size_t>& line) {
  if (line) incomplete(*line, "what begins here is no part of the XML and is not read; give each in a file of its own");
}

void Remarks::find_xml(const std::vector<std::string>& lines) {
  if (const std::optional<std::size_t> line = line_of_xml(lines))
    incomplete(*line, "XML begins here, which is not read: the text before it is; give each in a file of its own");
}

std::vector<Remark> Remarks::take() {
  if (more_ > 0)
    remarks_.push_back({RemarkKind::Contradiction, file_, fmt::format("and {} more", base::plural(more_, "remark"))});
  more_ = 0;
  return std::exchange(remarks_, {});
}

}  // namespace weft::topology
