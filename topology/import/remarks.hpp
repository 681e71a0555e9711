// Remarks: what an importer noticed, each with the place in its file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/survey.hpp"

namespace weft::topology {

class Remarks {
 public:
  // Places are told by the last part of the path: the same file gives the same remarks wherever it lies.
  explicit Remarks(std::string_view path) : file_(path.substr(path.find_last_of('/') + 1)) {}

  // `line` 0: of the file as a whole.
  void incomplete(std::size_t line, std::string evidence) { add(RemarkKind::Incomplete, line, std::move(evidence)); }
  void contradiction(std::size_t line, std::string evidence) {
    add(RemarkKind::Contradiction, line, std::move(evidence));
  }
  // What stands on this line, if there is one, beside the root element of an XML file.
  void beside_root(const std::optional<std::size_t>& line);
  // XML behind a report that a terminal printed.
  void find_xml(const std::vector<std::string>& lines);
  // Whether there are so many that the next are only counted.
  bool full() const { return remarks_.size() + 1 >= kMost; }
  // At most kMost; what is beyond them is counted in the last.
  std::vector<Remark> take();

 private:
  static constexpr std::size_t kMost = 64;
  void add(RemarkKind kind, std::size_t line, std::string evidence);

  std::string file_;
  std::vector<Remark> remarks_;
  std::size_t more_ = 0;
};

}  // namespace weft::topology
