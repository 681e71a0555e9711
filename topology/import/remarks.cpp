// Remarks of an importer.
#include "topology/import/remarks.hpp"

#include <fmt/format.h>

#include "base/plural.hpp"

namespace weft::topology {

void Remarks::add(RemarkKind kind, std::size_t line, std::string evidence) {
  if (full()) {
    ++more_;
    return;
  }
  remarks_.push_back({kind, line == 0 ? file_ : fmt::format("{}:{}", file_, line), std::move(evidence)});
}

std::vector<Remark> Remarks::take() {
  if (more_ > 0)
    remarks_.push_back({RemarkKind::Contradiction, file_, fmt::format("and {} more", base::plural(more_, "remark"))});
  more_ = 0;
  return std::exchange(remarks_, {});
}

}  // namespace weft::topology
