// One size after the other: checked both ways, sent there and back for the latency, many at a time for the bandwidth,
// and checked again.
#include "bench/weft-bench/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/json_writer.hpp"
#include "base/output.hpp"
#include "bench/weft-bench/buffer.hpp"
#include "bench/weft-bench/sizes.hpp"
#include "bench/weft-bench/timing.hpp"
#include "weft/version.hpp"

namespace weft::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWindow = 16;  // messages in flight for the bandwidth
constexpr int kTag = 1;
constexpr int kEndTag = 2;
constexpr double kBatchUs = 30;  // as of the collectives: a clock read does not count
constexpr int kMaxRounds = 100'000;

struct Row {
  std::uint64_t bytes = 0;
  Timing latency = {};  // half of there and back
  double bandwidth_gbs = 0;
  std::uint64_t wrong = 0;  // bytes
};

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::byte expected(std::uint64_t index, int round) {
  return static_cast<std::byte>(index * 31 + index / 253 + static_cast<std::uint64_t>(round) * 77 + 1);
}

class Pair {
 public:
  Pair(Communicator& communicator, const Arguments& arguments, Buffer in, Buffer out)
      : communicator_(communicator),
        arguments_(arguments),
        in_(std::move(in)),
        out_(std::move(out)),
        first_(communicator.rank() == 0),
        peer_(first_ ? communicator.size() - 1 : 0) {}

  bool takes_part() const { return first_ || communicator_.rank() == communicator_.size() - 1; }

  // Every rank calls it.
  Result<Row> measure(std::uint64_t bytes) {
    Row row{.bytes = bytes};
    WEFT_TRY(check_both_ways(row, 0));
    source_ = out_.place(bytes);
    target_ = in_.place(bytes);
    WEFT_TRY(there_and_back(arguments_.warmup));
    WEFT_TRY_ASSIGN(row.latency, latency());
    WEFT_TRY_ASSIGN(row.bandwidth_gbs, bandwidth(row.latency.median_us));
    WEFT_TRY(check_both_ways(row, 1));
    WEFT_TRY(agree_on_sum(communicator_, std::span(&row.wrong, 1)));
    return row;
  }

 private:
  Message sending() const { return send(source_.data(), source_.size(), DataType::UInt8, peer_, kTag); }
  Message receiving() const { return receive(target_.data(), target_.size(), DataType::UInt8, peer_, kTag); }

  Status there_and_back(int times) {
    if (!takes_part()) return {};
    for (int i = 0; i < times; ++i) {
      if (first_) WEFT_TRY(communicator_.run(sending()).status());
      WEFT_TRY(communicator_.run(receiving()).status());
      if (!first_) WEFT_TRY(communicator_.run(sending()).status());
    }
    return {};
  }

  Status check_both_ways(Row& row, int round) {
    if (!arguments_.check || !takes_part()) return {};
    source_ = out_.place(row.bytes);
    target_ = in_.place(row.bytes);
    for (std::uint64_t i = 0; i < row.bytes; ++i) source_[i] = expected(i, round + (first_ ? 0 : 5));
    std::fill(target_.begin(), target_.end(), std::byte{0xee});
    const std::array<Message, 2> both{receiving(), sending()};
    std::array<Received, 2> received;
    WEFT_TRY(communicator_.run(both, received));
    std::uint64_t wrong = received[0] == Received{peer_, kTag, row.bytes} ? 0 : 1;
    for (std::uint64_t i = 0; i < row.bytes; ++i)
      wrong += target_[i] != expected(i, round + (first_ ? 5 : 0)) ? 1U : 0U;
    wrong += in_.broken_guards();
    if (wrong > 0) {
      base::complain("weft-bench", fmt::format("rank {}: send_recv of {} bytes: {} bytes wrong", communicator_.rank(),
                                               row.bytes, wrong));
    }
    row.wrong += wrong;
    return {};
  }

  // Of there and back; agreed.
  Result<double> estimate(int times) {
    const auto start = Clock::now();
    WEFT_TRY(there_and_back(times));
    double once_us = us_since(start) / times;
    WEFT_TRY(agree_on_max(communicator_, std::span(&once_us, 1)));
    return once_us;
  }

  Result<Timing> latency() {
    WEFT_TRY_ASSIGN(double once_us, estimate(1));
    if (once_us < 1000) {
      WEFT_TRY_ASSIGN(once_us, estimate(100));
    }
    once_us = std::max(once_us, 0.01);
    int times = static_cast<int>(std::clamp(std::ceil(kBatchUs / once_us), 1.0, 1000.0));
    int batches = static_cast<int>(
        std::clamp(arguments_.time_budget_s * 0.5e6 / (once_us * times), 3.0, static_cast<double>(kMaxRounds) / times));
    if (arguments_.iterations > 0) {
      times = 1;
      batches = arguments_.iterations;
    }
    std::vector<double> halves(static_cast<std::size_t>(batches));
    for (double& half : halves) {
      const auto start = Clock::now();
      WEFT_TRY(there_and_back(times));
      half = us_since(start) / times / 2;
    }
    WEFT_TRY(agree_on_max(communicator_, halves));
    return Timing{quantile(halves, 0), quantile(halves, 0.5), quantile(halves, 0.99)};
  }

  // From the first to the last; the last says when it has them.
  Status window() {
    if (!takes_part()) return {};
    std::array<Message, kWindow> messages;
    messages.fill(first_ ? sending() : receiving());
    WEFT_TRY(communicator_.run(messages));
    std::byte end{};
    if (first_) return communicator_.receive(&end, 1, DataType::UInt8, peer_, kEndTag).status();
    return communicator_.send(&end, 1, DataType::UInt8, peer_, kEndTag);
  }

  Result<double> bandwidth(double latency_us) {
    WEFT_TRY(window());
    const double guess_us = std::max(latency_us * kWindow, 0.1);
    const int windows = arguments_.iterations > 0
                            ? (arguments_.iterations + kWindow - 1) / kWindow
                            : static_cast<int>(std::clamp(arguments_.time_budget_s * 0.5e6 / guess_us, 2.0, 10'000.0));
    const auto start = Clock::now();
    for (int i = 0; i < windows; ++i) WEFT_TRY(window());
    double spent_us = us_since(start);
    WEFT_TRY(agree_on_max(communicator_, std::span(&spent_us, 1)));
    return static_cast<double>(source_.size()) * kWindow * windows / spent_us / 1e3;
  }

  Communicator& communicator_;
  const Arguments& arguments_;
  Buffer in_;
  Buffer out_;
  bool first_;
  int peer_;
  std::span<std::byte> source_;
  std::span<std::byte> target_;
};

std::string to_json(const Communicator& communicator, const std::vector<Row>& rows, const Arguments& arguments) {
  using Layout = base::JsonWriter::Layout;
  base::JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("schema", 1);
  json.member("version", version());
  json.member("ranks", communicator.size());
  json.member("transport", communicator.transport(communicator.size() - 1));
  json.begin_list("results", Layout::Lines);
  for (const Row& row : rows) {
    json.begin_object();
    json.member("collective", "send_recv");
    json.member("bytes", row.bytes);
    json.begin_object("latency_us");
    json.member("min", row.latency.min_us);
    json.member("median", row.latency.median_us);
    json.member("p99", row.latency.p99_us);
    json.end_object();
    json.member("bandwidth_gbs", row.bandwidth_gbs);
    json.member("wrong", arguments.check ? std::optional(row.wrong) : std::nullopt);
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return std::move(json).text();
}

}  // namespace

Result<Summary> measure_messages(Communicator& communicator, const Arguments& arguments) {
  WEFT_TRY_ASSIGN(auto in, Buffer::allocate(arguments.max_bytes));
  WEFT_TRY_ASSIGN(auto out, Buffer::allocate(arguments.max_bytes));
  const bool tells = communicator.rank() == 0;
  const int last = communicator.size() - 1;
  Summary summary;
  if (tells) {
    summary.told = base::write_stdout(
        fmt::format("# weft-bench {}: send_recv between ranks 0 and {} over {}; latency is half of there and back, "
                    "bandwidth with {} messages at a time\n{:>14} {:>12} {:>9} {:>9} {:>12} {:>7}\n",
                    version(), last, communicator.transport(last), kWindow, "size(B)", "latency(us)", "min(us)",
                    "p99(us)", "GB/s", "#wrong"));
  }
  Pair pair(communicator, arguments, std::move(in), std::move(out));
  std::vector<Row> rows;
  for (const std::uint64_t bytes : sweep(arguments.min_bytes, arguments.max_bytes, arguments.factor)) {
    WEFT_TRY_ASSIGN(rows.emplace_back(), pair.measure(bytes));
    const Row& row = rows.back();
    summary.wrong += row.wrong;
    if (!tells || !summary.told.ok()) continue;
    summary.told = base::write_stdout(fmt::format(
        "{:>14} {:>12.3f} {:>9.3f} {:>9.3f} {:>12.3f} {:>7}\n", row.bytes, row.latency.median_us, row.latency.min_us,
        row.latency.p99_us, row.bandwidth_gbs, arguments.check ? fmt::format("{}", row.wrong) : "N/A"));
  }
  if (tells && summary.told.ok() && !arguments.json.empty())
    summary.told = base::write_file(arguments.json, to_json(communicator, rows, arguments));
  return summary;
}

}  // namespace weft::bench
