// The plan is told at once; answers come round by round.
#include "topology/measure/gpu_copies.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/deadline.hpp"
#include "base/json_reader.hpp"
#include "base/plural.hpp"
#include "topology/sources.hpp"
#include "topology/vendor/helper.hpp"

namespace weft::topology {
namespace {

using base::JsonDocument;
using base::JsonObject;
using base::JsonValue;

constexpr int kPatienceMs = 10'000;  // after the time is over: for the last round
constexpr double kMostGbs = 1e6;
constexpr std::size_t kMaxCopies = 1024;  // of one round
constexpr int kMaxRounds = 1 << 16;

class GpuMeasuring {
 public:
  GpuMeasuring(const GpuMeasurer& measurer, const std::vector<GpuRound>& rounds, Survey& survey)
      : measurer_(measurer), rounds_(rounds), survey_(survey) {}

  void run() {
    if (const Status status = measure(); !status.ok())
      remark(status.code() == Code::Timeout
                 ? fmt::format("no answer within {} s; GPU copies that were not measured by then are left out",
                               (milliseconds() + kPatienceMs) / 1000)
                 : std::string(status.message()),
             RemarkKind::GaveUp);
    else if (!refused_ && answered_ < rounds_.size())
      remark(fmt::format("{} of GPU copies left out: the time was over",
                         base::plural(rounds_.size() - answered_, "round")));
    for (const auto& [why, copies] : failed_)
      remark(copies.size() == 1 ? fmt::format("{}: {}", copies.front(), why)
                                : fmt::format("{} and {} more: {}", copies.front(), copies.size() - 1, why));
  }

 private:
  int milliseconds() const { return static_cast<int>(measurer_.seconds * 1000); }

  void remark(std::string evidence, RemarkKind kind = RemarkKind::Unmeasured) {
    survey_.remarks.push_back({kind, measurer_.name, std::move(evidence)});
  }

  Status measure() {
    const auto deadline = base::Deadline::after_ms(milliseconds() + kPatienceMs);
    WEFT_TRY_ASSIGN(Helper helper, Helper::start(measurer_.program, {measurer_.kind, measurer_.library,
                                                                     fmt::format("{}", milliseconds())}));
    std::string plan;
    for (const GpuRound& round : rounds_) plan += round.line + "\n";
    plan.pop_back();  // say() ends the line
    WEFT_TRY(helper.say(plan));
    helper.hang_up();
    WEFT_TRY_ASSIGN(const std::optional<std::string> first, helper.next_line(deadline));
    WEFT_TRY(start(first.value_or("")));
    for (;;) {
      WEFT_TRY_ASSIGN(const std::optional<std::string> line, helper.next_line(deadline));
      if (!line) return {};
      WEFT_TRY_ASSIGN(const GpuAnswer answer, read_gpu_answer(*line));
      WEFT_TRY(take(answer));
    }
  }

  // Which library it is, and why it cannot.
  Status start(const std::string& line) {
    WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("answer of " + measurer_.name, line));
    std::string library;
    std::string error;
    JsonObject object(document.root());
    object.required("library", library);
    object.optional("error", error);
    WEFT_TRY(object.finish());
    refused_ = !error.empty();
    if (refused_) remark(error);
    return {};
  }

  Status take(const GpuAnswer& answer) {
    const auto index = static_cast<std::size_t>(answer.round);
    if (index != answered_ || index >= rounds_.size() || answer.copies.size() != rounds_[index].copies.size())
      return Status(Code::Corrupt, fmt::format("answer of {}: round {} is not what was asked", measurer_.name, index));
    ++answered_;
    const GpuRound& round = rounds_[index];
    for (std::size_t i = 0; i < round.copies.size(); ++i) {
      const auto [from, to] = round.copies[i];
      if (answer.copies[i].error.empty())
        survey_.measurements.push_back({from, to, round.what, round.at_once, answer.copies[i].gbs, std::nullopt});
      else
        failed_[answer.copies[i].error].push_back(fmt::format("{} to {}", name(from), name(to)));
    }
    return {};
  }

  const std::string& name(int id) const { return survey_.graph.nodes[static_cast<std::size_t>(id)].name; }

  const GpuMeasurer& measurer_;
  const std::vector<GpuRound>& rounds_;
  Survey& survey_;
  bool refused_ = false;
  std::size_t answered_ = 0;
  std::map<std::string, std::vector<std::string>> failed_;  // copies by what was wrong
};

Status read_copy(const JsonValue& value, GpuAnswer::Copy& copy) {
  JsonObject object(value);
  object.optional("gbs", copy.gbs);
  object.optional("error", copy.error);
  WEFT_TRY(object.finish());
  const bool measured = copy.gbs > 0 && copy.gbs < kMostGbs;
  return measured == copy.error.empty() ? Status() : value.wrong("is neither a rate nor an error");
}

}  // namespace

Result<GpuAnswer> read_gpu_answer(std::string_view json) {
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("answer about GPU copies", json));
  GpuAnswer answer;
  JsonObject object(document.root());
  object.required("round", answer.round, 0, kMaxRounds);
  object.required_by("copies", [&](const JsonValue& list) {
    return list.read_list(kMaxCopies,
                          [&](const JsonValue& copy) { return read_copy(copy, answer.copies.emplace_back()); });
  });
  WEFT_TRY(object.finish());
  return answer;
}

void measure_gpus(const GpuMeasurer& measurer, const std::vector<GpuRound>& rounds, Survey& survey) {
  if (rounds.empty()) return;
  if (measurer.library.empty() || measurer.program.empty()) {
    survey.remarks.push_back({RemarkKind::Unmeasured, measurer.name,
                              measurer.library.empty()
                                  ? "GPU copies are left out: the library is not there"
                                  : "GPU copies are left out: there is no libexec/weft/weft-vendor beside libweft"});
    return;
  }
  GpuMeasuring(measurer, rounds, survey).run();
}

}  // namespace weft::topology
