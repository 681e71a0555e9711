// What is kept of a table, and what is replaced.
#include "bench/weft-bench/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/output.hpp"

namespace weft::bench {
namespace {

using algorithms::MeasuredCell;
using algorithms::MeasuredTable;

Status same_topology(const MeasuredTable& known, const std::string& fingerprint) {
  if (known.fingerprint == fingerprint || (known.cells.empty() && known.calibration.empty())) return {};
  return Status(Code::InvalidArgument,
                fmt::format("it holds measurements of another topology ({}, this one is {}); give another file",
                            known.fingerprint, fingerprint));
}

// What the file holds already; an empty table if it is not there.
Result<MeasuredTable> table_in(const std::string& file) {
  if (!std::filesystem::exists(file)) return MeasuredTable();
  return MeasuredTable::load(file);
}

Status named(const std::string& file, const Status& status) {
  if (status.ok()) return {};
  return Status(Code::InvalidArgument, fmt::format("--table {}: {}", file, status.message()));
}

template <typename News>
Status update(const std::string& file, const std::string& fingerprint, const News& news) {
  Result<MeasuredTable> known = table_in(file);
  if (!known.has_value()) return named(file, known.error());
  Result<MeasuredTable> table = merged(std::move(*known), fingerprint, news);
  if (!table.has_value()) return named(file, table.error());
  return named(file, base::write_file(file, table->to_json()));
}

}  // namespace

Result<MeasuredTable> merged(MeasuredTable known, const std::string& fingerprint,
                             const std::vector<MeasuredCell>& cells) {
  WEFT_TRY(same_topology(known, fingerprint));
  known.fingerprint = fingerprint;
  std::erase_if(known.cells, [&](const MeasuredCell& old) {
    return std::any_of(cells.begin(), cells.end(), [&](const MeasuredCell& cell) {
      return cell.collective == old.collective && cell.ranks == old.ranks;
    });
  });
  known.cells.insert(known.cells.end(), cells.begin(), cells.end());
  return known;
}

Result<MeasuredTable> merged(MeasuredTable known, const std::string& fingerprint,
                             const algorithms::Calibration& calibration) {
  WEFT_TRY(same_topology(known, fingerprint));
  known.fingerprint = fingerprint;
  known.calibration.update(calibration);
  return known;
}

Status check_table(const std::string& file, const std::string& fingerprint) {
  WEFT_TRY(named(file, base::check_writable(file)));
  const Result<MeasuredTable> known = table_in(file);
  return named(file, known.has_value() ? same_topology(*known, fingerprint) : known.error());
}

Status update_table(const std::string& file, const std::string& fingerprint, const std::vector<MeasuredCell>& cells) {
  return update(file, fingerprint, cells);
}

Status update_table(const std::string& file, const std::string& fingerprint,
                    const algorithms::Calibration& calibration) {
  return update(file, fingerprint, calibration);
}

}  // namespace weft::bench
