// `rocm-smi --showtopo`: sections with a matrix each, then the NUMA nodes line by line. Weights and hops say nothing
// that a graph could hold; the type of the links and the NUMA nodes do.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topology/import/device_matrix.hpp"
#include "topology/import/import.hpp"
#include "topology/import/remarks.hpp"
#include "topology/import/source_text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 16;
constexpr std::string_view kSections = " between two GPUs";
constexpr std::string_view kNumaNode = "Numa Node:";
constexpr std::string_view kNumaLine = ": (Topology) Numa Node:";
constexpr int kMaxNumaNode = 1 << 16;

std::optional<int> number_at(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

// The number of "GPU3", or of "GPU[3]" and "GPU 3" at the start of a line.
std::optional<int> gpu_number(std::string_view text) {
  if (!text.starts_with("GPU")) return std::nullopt;
  text.remove_prefix(3);
  if (text.starts_with('[') || text.starts_with(' ')) text.remove_prefix(1);
  const std::optional<int> number = number_at(text);
  return number && *number >= 0 ? number : std::nullopt;
}

// The GPUs of a line that names nothing else.
std::vector<int> header_of(std::string_view line) {
  std::vector<int> numbers;
  for (std::string_view word : words_of(line)) {
    const std::optional<int> number = gpu_number(word);
    if (!number || word != fmt::format("GPU{}", *number)) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

class Reader {
 public:
  Reader(const std::string& path, const std::vector<std::string>& lines) : path_(path), lines_(lines), remarks_(path) {}

  Result<Survey> read() {
    WEFT_TRY(find_gpus());
    bool link_types = false;
    for (const std::string& line : lines_) {
      ++line_;
      if (line.find(kSections) != std::string::npos)
        link_types = line.find("Link Type") != std::string::npos;
      else if (line.starts_with("==="))
        link_types = false;
      else if (const std::size_t numa = line.find(kNumaNode); numa != std::string::npos)
        add_numa(words_of(line), std::string_view(line).substr(numa + kNumaNode.size()), line);
      else if (link_types)
        add_line(line);
    }
    find_gaps();
    remarks_.find_xml(lines_);
    Survey survey;
    survey.graph = graph_of(matrix_);
    if (const Status status = survey.graph.check(); !status.ok()) return import_error(path_, 0, status.message());
    survey.remarks = remarks_.take();
    return survey;
  }

 private:
  // GPUs in the order of the longest header; all its words are names.
  Status find_gpus() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      std::vector<int> numbers = header_of(lines_[i]);
      if (numbers.size() <= columns_.size()) continue;
      if (numbers.size() > kMaxMatrixDevices)
        return import_error(path_, i + 1, fmt::format("names more than {} GPUs", kMaxMatrixDevices));
      columns_ = std::move(numbers);
    }
    if (columns_.empty()) columns_ = gpus_with_numa();
    if (columns_.size() > kMaxMatrixDevices)
      return import_error(path_, 0, fmt::format("names more than {} GPUs", kMaxMatrixDevices));
    if (columns_.empty()) return import_error(path_, 0, "names no GPUs; give the whole text of rocm-smi --showtopo");
    for (int number : columns_) {
      if (!position_.emplace(number, static_cast<int>(matrix_.devices.size())).second)
        return import_error(path_, 0, fmt::format("names GPU{} twice in one line", number));
      matrix_.devices.emplace_back().name = fmt::format("gpu{}", number);
    }
    return {};
  }

  // Where the section of NUMA nodes stands alone.
  std::vector<int> gpus_with_numa() const {
    std::set<int> numbers;
    for (const std::string& line : lines_)
      if (line.find(kNumaNode) != std::string::npos)
        if (const std::optional<int> number = gpu_number(trim(line))) numbers.insert(*number);
    return {numbers.begin(), numbers.end()};
  }

  // A header, or the row of a GPU. Texts of one host may stand behind each other: they name the same GPUs.
  void add_line(const std::string& line) {
    const std::vector<int> header = header_of(line);
    if (header.empty()) return add_row(words_of(line));
    if (header_.empty()) {
      header_ = header;
      header_line_ = line_;
    } else if (header != header_) {
      remarks_.contradiction(line_, fmt::format("the GPUs here are not those of line {}: give the texts of several "
                                                "hosts in files of their own",
                                                header_line_));
    }
  }

  void add_row(const std::vector<std::string_view>& words) {
    const std::optional<int> number = words.empty() ? std::nullopt : gpu_number(words.front());
    if (!number || !position_.contains(*number)) return;
    const int own = position_.at(*number);
    for (std::size_t i = 0; i + 1 < words.size() && i < columns_.size(); ++i) {
      const int other = position_.at(columns_[i]);
      const std::string_view type = words[i + 1];
      if (other == own || (type != "XGMI" && type != "PCIE")) continue;
      const bool xgmi = type == "XGMI";
      const auto [found, fresh] =
          matrix_.between.try_emplace(std::minmax(own, other), DeviceMatrix::Relation{std::nullopt, 0, xgmi});
      const bool again = !told_.insert({own, other}).second;
      if (!fresh && found->second.xgmi != xgmi)
        remarks_.contradiction(line_, fmt::format("GPU{} to GPU{} is {}, but {} it is {}", *number, columns_[i], type,
                                                  again ? "in another text" : "back", xgmi ? "PCIE" : "XGMI"));
    }
  }

  void find_gaps() {
    const std::size_t gpus = matrix_.devices.size();
    const std::size_t pairs = gpus * (gpus - 1) / 2;
    if (matrix_.between.size() < pairs)
      remarks_.incomplete(
          0, fmt::format("the type of the link is told of {} of {} pairs of GPUs", matrix_.between.size(), pairs));
    const auto unplaced = std::count_if(matrix_.devices.begin(), matrix_.devices.end(),
                                        [](const DeviceMatrix::Device& device) { return device.numa.empty(); });
    if (unplaced > 0)
      remarks_.incomplete(
          0, fmt::format("the NUMA node is told of {} of {} GPUs", gpus - static_cast<std::size_t>(unplaced), gpus));
  }

  // "GPU[3]  : (Topology) Numa Node: 1"
  void add_numa(const std::vector<std::string_view>& words, std::string_view value, std::string_view line) {
    if (words.empty() || words_of(value).empty()) return;
    const std::optional<int> gpu = gpu_number(line.substr(line.find_first_not_of(" \t")));
    const std::optional<int> numa = number_at(words_of(value).front());
    if (!gpu || !numa || *numa < 0 || *numa > kMaxNumaNode || !position_.contains(*gpu)) return;
    std::vector<int>& known = matrix_.devices[static_cast<std::size_t>(position_.at(*gpu))].numa;
    if (!known.empty() && known.front() != *numa)
      remarks_.contradiction(line_,
                             fmt::format("GPU{} is on NUMA node {}, but was on {} before", *gpu, *numa, known.front()));
    known = {*numa};
  }

  const std::string& path_;
  const std::vector<std::string>& lines_;
  Remarks remarks_;
  std::size_t line_ = 0;
  DeviceMatrix matrix_;
  std::vector<int> columns_;            // numbers of the GPUs
  std::map<int, int> position_;         // of a GPU in the devices, by its number
  std::set<std::pair<int, int>> told_;  // cells
  std::vector<int> header_;             // the first of link types
  std::size_t header_line_ = 0;
};

}  // namespace

bool is_rocm_smi(std::string_view text) {
  for (const std::string& line : plain_lines(text, kHeadBytes))
    if (line.find("Link Type between two GPUs") != std::string::npos || line.find(kNumaLine) != std::string::npos ||
        (line.starts_with("===") && line.find("ROCm System Management Interface") != std::string::npos))
      return true;
  return false;
}

Result<Survey> read_rocm_smi(const std::string& path, std::string_view text) {
  WEFT_TRY(check_source_text(path, text));
  WEFT_TRY(check_report_lines(path, text));
  const std::vector<std::string> lines = plain_lines(text);
  return Reader(path, lines).read();
}

}  // namespace weft::topology
