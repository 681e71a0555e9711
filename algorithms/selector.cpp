// The order of the sources of a choice, and the words that say why.
#include "algorithms/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/plural.hpp"
#include "weft/operation.hpp"

namespace weft::algorithms {
namespace {

// Bounds of the channel counts that are tried. On CPUs the channels of a rank share one core, so a second one can only
// overlap a copy with a wait; GPUs gain as long as the topology has other rings for them.
constexpr int kMaxCpuReplicas = 2;
constexpr int kMaxGpuReplicas = 8;

struct Option {
  const Algorithm* algorithm = nullptr;
  int replicas = 1;
  const LoadedSchedule* loaded = nullptr;  // instead of an algorithm

  std::string_view name() const { return loaded != nullptr ? std::string_view(loaded->name) : algorithm->name; }
  int channels() const { return loaded != nullptr ? loaded->channels() : algorithm->native_channels * replicas; }
};

// The part of the time that counts most, in words: "latency: 3 messages in a row".
std::string dominant_term(const CriticalPath& path) {
  const std::int64_t total = std::max<std::int64_t>(1, path.latency_ps + path.transfer_ps + path.local_ps);
  const auto percent = [&](std::int64_t part) { return (part * 100 + total / 2) / total; };
  if (path.latency_ps >= path.transfer_ps && path.latency_ps >= path.local_ps)
    return fmt::format("latency: {} in a row", base::plural(path.messages, "message"));
  if (path.transfer_ps >= path.local_ps)
    return fmt::format("bandwidth: {} % of the time bytes are on the way", percent(path.transfer_ps));
  return fmt::format("local work: {} % of the time bytes are copied and reduced", percent(path.local_ps));
}

class Selection {
 public:
  Selection(const Request& request, const Overrides& overrides, const MeasuredTable* table, CostModel& model,
            Detail detail, const LoadedSchedules* loaded)
      : request_(request), overrides_(overrides), table_(table), model_(model), detail_(detail), loaded_(loaded) {
    choice_.collective = request.collective;
    choice_.ranks = model.group().size;
    choice_.bytes = message_bytes(request, choice_.ranks);
    rule_ = overrides.find(choice_.collective, choice_.bytes);
  }

  Result<Choice> run() {
    list_options();
    if (options_.empty()) return nobody_can();
    if (choice_.ranks == 1) return alone();
    WEFT_TRY_ASSIGN(bool decided, by_override());
    if (!decided) {
      WEFT_TRY_ASSIGN(decided, by_table());
    }
    if (!decided) WEFT_TRY(by_model());
    if (decided && detail_ == Detail::Everything) WEFT_TRY(add_estimates(options_));
    finish();
    return std::move(choice_);
  }

 private:
  int channels_asked() const { return rule_ != nullptr && rule_->channels > 0 ? rule_->channels : overrides_.channels; }

  void list_options() {
    for (const Algorithm* algorithm : all_algorithms()) {
      if (algorithm->collective != request_.collective) continue;
      const std::string_view why_not = why_unsupported(*algorithm);
      if (why_not.empty()) {
        for (const int replicas : replica_counts(*algorithm)) options_.push_back({algorithm, replicas});
      } else {
        cannot_.push_back({std::string(algorithm->name), algorithm->native_channels, -1, "", std::string(why_not)});
      }
    }
    if (loaded_ != nullptr) list_loaded();
  }

  // Of several schedules of one name the one that fits, or why the first does not.
  void list_loaded() {
    for (const LoadedSchedule& loaded : loaded_->all()) {
      if (loaded.collective() != request_.collective) continue;
      const LoadedSchedule* const fitting =
          loaded_->find(loaded.collective(), loaded.name, choice_.ranks, request_.root);
      if (fitting != nullptr && fitting != &loaded) continue;
      std::string why_not = loaded.unsupported(choice_.ranks, request_);
      if (why_not.empty())
        options_.push_back({nullptr, 1, &loaded});
      else if (cannot_.empty() || cannot_.back().algorithm != loaded.name)
        cannot_.push_back({loaded.name, loaded.channels(), -1, "", std::move(why_not)});
    }
  }

  // Only what a reducing call asks of its algorithm can depend on the numerics.
  std::string_view why_unsupported(const Algorithm& algorithm) const {
    const std::string_view reason = algorithm.unsupported(model_.group(), request_);
    const bool ordered = request_.numerics == Numerics::Invariant && reduces(request_.collective);
    if (!reason.empty() || !ordered || algorithm.invariant || model_.group().size == 1) return reason;
    return "reduces in another order than Numerics::Invariant asks for";
  }

  std::vector<int> replica_counts(const Algorithm& algorithm) const {
    if (!algorithm.replicable) return {1};
    if (channels_asked() > 0) return {std::max(1, channels_asked() / algorithm.native_channels)};
    const int rings = static_cast<int>(model_.group().rings.size());
    const int most = model_.fabric().on_gpus() ? std::min(kMaxGpuReplicas, rings) : kMaxCpuReplicas;
    std::vector<int> counts = {1};
    while (counts.back() * 2 <= most) counts.push_back(counts.back() * 2);
    return counts;
  }

  Result<Choice> nobody_can() const {
    std::string reasons;
    for (const Candidate& candidate : cannot_) reasons += fmt::format("; {}: {}", candidate.algorithm, candidate.note);
    return Status(Code::Unsupported,
                  fmt::format("no algorithm serves {}{} of {} {} on {}{}", to_string(request_.collective),
                              request_.uneven ? "_v" : "", request_.count, to_string(request_.dtype),
                              base::plural(choice_.ranks, "rank"), reasons));
  }

  Result<Choice> alone() {
    choice_.source = ChoiceSource::Only;
    choice_.reason = "one rank has nobody to talk to: only a local copy, if any";
    const auto named = [&](const Option& option) { return rule_ != nullptr && option.name() == rule_->algorithm; };
    const auto asked = std::find_if(options_.begin(), options_.end(), named);
    const Option& first = asked != options_.end() ? *asked : options_.front();
    choice_.candidates.push_back({std::string(first.name()), first.channels(), 0, "", ""});
    return std::move(choice_);
  }

  // True if the user's rule decides. A rule that cannot serve the call is put on record.
  Result<bool> by_override() {
    if (rule_ == nullptr) return false;
    std::vector<Option> named;
    for (const Option& option : options_)
      if (option.name() == rule_->algorithm) named.push_back(option);
    if (named.empty()) {
      std::string why = "there is no such algorithm";
      for (const Candidate& candidate : cannot_)
        if (candidate.algorithm == rule_->algorithm) why = candidate.note;
      remark_ = fmt::format("the override asks for {}, which cannot serve this call ({}); ", rule_->algorithm, why);
      return false;
    }
    WEFT_TRY(add_estimates(named));
    choice_.source = ChoiceSource::Override;
    take_best();
    choice_.reason = fmt::format("the override for {} names it", range_text(*rule_));
    return true;
  }

  static std::string range_text(const Override& rule) {
    if (rule.end_bytes == kNoByteLimit && rule.first_bytes == 0) return std::string(to_string(rule.collective));
    if (rule.end_bytes == kNoByteLimit)
      return fmt::format("{} from {}", to_string(rule.collective), format_bytes(rule.first_bytes));
    return fmt::format("{} from {} to below {}", to_string(rule.collective), format_bytes(rule.first_bytes),
                       format_bytes(rule.end_bytes));
  }

  // True if the table of this topology has measurements of this call.
  Result<bool> by_table() {
    if (table_ == nullptr) return false;
    if (table_->fingerprint != model_.fingerprint()) {
      remark_ += fmt::format("the measured table is of another topology ({}, this one is {}); ", table_->fingerprint,
                             model_.fingerprint());
      return false;
    }
    std::map<std::pair<std::string_view, int>, TimeCurve> curves;
    for (const MeasuredCell& cell : table_->cells)
      if (cell.collective == request_.collective && cell.ranks == choice_.ranks)
        curves[{cell.algorithm, cell.channels}].add(cell.bytes, cell.time_ns);
    for (const Option& option : options_) {
      const auto curve = curves.find({option.name(), option.channels()});
      if (curve == curves.end()) continue;
      candidates_[{std::string(option.name()), option.channels()}] = {std::string(option.name()), option.channels(),
                                                                      curve->second.at(choice_.bytes), "", "measured"};
    }
    if (candidates_.empty()) return false;
    choice_.source = ChoiceSource::Table;
    take_best();
    choice_.reason = "the fastest of those measured on this topology";
    return true;
  }

  Status by_model() {
    const std::vector<Option> weighed = weighed_by_model();
    WEFT_TRY(detail_ == Detail::Winner ? add_winner(weighed) : add_estimates(weighed));
    take_best();
    if (detail_ == Detail::Everything) WEFT_TRY(add_estimates(options_));
    const bool only = std::all_of(options_.begin(), options_.end(),
                                  [&](const Option& option) { return option.name() == options_.front().name(); });
    choice_.source = only ? ChoiceSource::Only : ChoiceSource::Model;
    const auto winner = std::find_if(options_.begin(), options_.end(), [&](const Option& option) {
      return option.name() == winner_.algorithm && option.channels() == winner_.channels;
    });
    WEFT_TRY_ASSIGN(const Estimate estimate, estimate_of(*winner));
    choice_.reason = model_reason(estimate, only);
    return Status();
  }

  std::string model_reason(const Estimate& estimate, bool only) const {
    std::string text;
    if (only) text += "it is the only one that serves this call; ";
    if (choice_.bytes == 0 && request_.uneven)
      return text + fmt::format("the ranks do not know each other's counts, so only messages count: {} in a row",
                                estimate.critical.messages);
    if (choice_.bytes == 0)
      return text + fmt::format("there are no bytes, so only messages count: {} in a row", estimate.critical.messages);
    const std::uint64_t hundredths = estimate.sent_numerator * 100 / estimate.sent_denominator;
    text += fmt::format("at {} it is {}", format_bytes(choice_.bytes), dominant_term(estimate.critical));
    if (!estimate.critical.bottleneck.empty() && estimate.critical.transfer_ps > estimate.critical.latency_ps)
      text += fmt::format(", and {} binds", estimate.critical.bottleneck);
    return text + fmt::format("; the busiest rank of {} sends {}.{:02} times the message{}", winner_.algorithm,
                              hundredths / 100, hundredths % 100,
                              model_.calibrated() ? "; rates and latencies are calibrated" : "");
  }

  Result<Estimate> estimate_of(const Option& option) {
    if (option.loaded != nullptr) return model_.estimate(*option.loaded, choice_.bytes);
    return model_.estimate(*option.algorithm, option.replicas, choice_.bytes);
  }

  // Of the cost model, for options that have none yet.
  Status add_estimates(const std::vector<Option>& options) {
    for (const Option& option : options) {
      const std::pair<std::string, int> key(option.name(), option.channels());
      if (candidates_.contains(key)) continue;
      WEFT_TRY_ASSIGN(const Estimate estimate, estimate_of(option));
      candidates_[key] = {key.first, key.second, estimate.time_ns, estimate.critical.bottleneck,
                          dominant_term(estimate.critical)};
    }
    return Status();
  }

  // On CPUs the channels of a rank share its core. What further ones gain by overlapping a copy with a wait, and lose
  // by going through the caches together, is less than what the model knows of either; so they are left to measurement.
  std::vector<Option> weighed_by_model() const {
    std::vector<Option> options = options_;
    if (!model_.fabric().on_gpus() && channels_asked() == 0)
      std::erase_if(options, [](const Option& option) { return option.replicas > 1; });
    return options;
  }

  // Estimates as far as they are needed to know the best: nobody is asked for who cannot be as fast as one already is.
  Status add_winner(const std::vector<Option>& options) {
    std::vector<std::pair<std::int64_t, Option>> by_least;
    for (const Option& option : options) {
      std::int64_t least = 0;  // of a file: its estimate is asked for
      if (option.loaded == nullptr) {
        WEFT_TRY_ASSIGN(least, model_.least_ns(*option.algorithm, option.replicas, choice_.bytes));
      }
      by_least.emplace_back(least, option);
    }
    std::stable_sort(by_least.begin(), by_least.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (const auto& [least, option] : by_least) {
      if (least > best) break;
      WEFT_TRY(add_estimates({option}));
      best = std::min(best, candidates_.at({std::string(option.name()), option.channels()}).estimate_ns);
    }
    return Status();
  }

  // Equal estimates: by name, then fewer channels.
  static bool better(const Candidate& a, const Candidate& b) {
    return std::tie(a.estimate_ns, a.algorithm, a.channels) < std::tie(b.estimate_ns, b.algorithm, b.channels);
  }

  void take_best() {
    const auto best = std::min_element(candidates_.begin(), candidates_.end(),
                                       [](const auto& a, const auto& b) { return better(a.second, b.second); });
    winner_ = best->second;
  }

  void finish() {
    choice_.reason = remark_ + choice_.reason;
    for (const auto& [key, candidate] : candidates_)
      if (candidate.algorithm != winner_.algorithm || candidate.channels != winner_.channels)
        choice_.candidates.push_back(candidate);
    std::sort(choice_.candidates.begin(), choice_.candidates.end(), better);
    choice_.candidates.insert(choice_.candidates.begin(), winner_);
    choice_.candidates.insert(choice_.candidates.end(), cannot_.begin(), cannot_.end());
  }

  const Request& request_;
  const Overrides& overrides_;
  const MeasuredTable* table_;
  CostModel& model_;
  Detail detail_;
  const LoadedSchedules* loaded_;
  const Override* rule_ = nullptr;
  std::vector<Option> options_;                                  // that can serve the call, by name, then channels
  std::vector<Candidate> cannot_;                                // by name
  std::map<std::pair<std::string, int>, Candidate> candidates_;  // by name and channels
  Candidate winner_;
  std::string remark_;
  Choice choice_;
};

}  // namespace

Result<Choice> choose(const Request& request, const Overrides& overrides, const MeasuredTable* table, CostModel& model,
                      Detail detail, const LoadedSchedules* loaded) {
  return Selection(request, overrides, table, model, detail, loaded).run();
}

Selected selected(const Choice& choice, const LoadedSchedules* loaded, int root) {
  const Candidate& winner = choice.winner();
  if (winner.algorithm.starts_with(kLoadedPrefix)) {
    return {nullptr, 1,
            loaded == nullptr ? nullptr : loaded->find(choice.collective, winner.algorithm, choice.ranks, root)};
  }
  const Algorithm* algorithm = find_algorithm(choice.collective, winner.algorithm);
  return {algorithm, algorithm == nullptr ? 1 : winner.channels / algorithm->native_channels};
}

std::uint64_t message_bytes(const Request& request, int size) {
  Operation operation;
  operation.collective = request.collective;
  operation.dtype = request.dtype;
  operation.op = request.op;
  operation.root = request.root;
  operation.count = request.count;
  return weft::message_bytes(operation, size);
}

}  // namespace weft::algorithms
