// source.unreadable: something is there, but may not or cannot be read; it stays unknown.
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Remark& remark : input.survey.remarks)
    if (remark.kind == RemarkKind::Unreadable) report.add(self, remark.subject, remark.evidence);
}

}  // namespace

extern const Rule source_unreadable;
const Rule source_unreadable = {
    .id = "source.unreadable",
    .severity = Severity::Info,
    .summary = "something is there but may not be read",
    .silent = "what is not there at all",
    .fix = "run again as root, or with the rights that the evidence names, to see the rest",
    .reference = "topology/survey.hpp",
    .check = check,
};

}  // namespace weft::topology::audit
