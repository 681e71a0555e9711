// What is chosen, by whom, and that it can say why.
#include "algorithms/selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "weft/graph.hpp"

namespace weft::algorithms {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

CostModel model_of(std::string_view line, int ranks) {
  Result<topology::Graph> graph = topology::model(line);
  EXPECT_TRUE(graph.has_value());
  Result<std::vector<int>> placement = topology::place(*graph, ranks);
  EXPECT_TRUE(placement.has_value());
  Group group = topology::make_group(*graph, *placement);
  Result<CostModel> model = CostModel::create(std::move(group), *graph, *placement);
  EXPECT_TRUE(model.has_value());
  return std::move(model).value();
}

Request all_reduce_of(std::uint64_t bytes) {
  return {.collective = Collective::AllReduce, .dtype = DataType::UInt8, .count = bytes};
}

Choice chosen(const Request& request, CostModel& model, const Overrides& overrides = {},
              const MeasuredTable* table = nullptr) {
  Result<Choice> choice = choose(request, overrides, table, model);
  EXPECT_TRUE(choice.has_value()) << (choice ? "" : choice.error().to_string());
  return choice ? std::move(choice).value() : Choice();
}

Overrides rules(std::string_view text) {
  Result<Overrides> overrides = Overrides::parse(text);
  EXPECT_TRUE(overrides.has_value()) << (overrides ? "" : overrides.error().to_string());
  return overrides ? *overrides : Overrides();
}

std::string parse_error(std::string_view text) {
  const Result<Overrides> overrides = Overrides::parse(text);
  return overrides ? "parsed" : std::string(overrides.error().message());
}

TEST(Bytes, SizesReadAsPowersOf1024) {
  EXPECT_EQ(*parse_bytes("8"), 8U);
  EXPECT_EQ(*parse_bytes("4k"), 4096U);
  EXPECT_EQ(*parse_bytes("4K"), 4096U);
  EXPECT_EQ(*parse_bytes("64M"), 64U << 20);
  EXPECT_EQ(*parse_bytes("1GiB"), 1U << 30);
  EXPECT_EQ(*parse_bytes("16777215t"), 16777215ULL << 40);
  for (const std::string_view wrong : {"", "k", "-1", "1.5k", "4kk", "4q", "16777216t", "99999999999999999999", " 8"})
    EXPECT_FALSE(parse_bytes(wrong).has_value()) << wrong;
  EXPECT_EQ(format_bytes(8), "8 B");
  EXPECT_EQ(format_bytes(64 << 20), "64 MiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
}

TEST(Overrides, RulesHaveRangesAlgorithmsAndChannels) {
  const Overrides overrides = rules("all_reduce:0-4k:direct; all_reduce:4k-:ring@2");
  ASSERT_EQ(overrides.rules.size(), 2U);
  EXPECT_EQ(overrides.rules[0], (Override{Collective::AllReduce, 0, 4096, "direct", 0}));
  EXPECT_EQ(overrides.rules[1], (Override{Collective::AllReduce, 4096, kNoByteLimit, "ring", 2}));
  EXPECT_EQ(overrides.find(Collective::AllReduce, 4095)->algorithm, "direct");
  EXPECT_EQ(overrides.find(Collective::AllReduce, 4096)->algorithm, "ring");
  EXPECT_EQ(overrides.find(Collective::AllGather, 4096), nullptr);
  EXPECT_EQ(rules("all_reduce:ring").rules[0].end_bytes, kNoByteLimit);
  EXPECT_EQ(rules("all_reduce:-1m:ring").rules[0].end_bytes, 1U << 20);
  EXPECT_TRUE(rules("").rules.empty());
  EXPECT_TRUE(rules(" ; ").rules.empty());
}

TEST(Overrides, ErrorsQuoteThePieceAndListWhatIsKnown) {
  EXPECT_THAT(parse_error("all_reduc:ring"),
              HasSubstr("\"all_reduc:ring\": there is no collective \"all_reduc\"; known: all_reduce,"));
  EXPECT_THAT(parse_error("all_reduce:ringg"), HasSubstr("there is no all_reduce algorithm \"ringg\"; known: "));
  EXPECT_THAT(parse_error("all_reduce:ringg"), HasSubstr("ring"));
  EXPECT_THAT(parse_error("all_reduce:4k:ring"), HasSubstr("\"4k\" is not a range"));
  EXPECT_THAT(parse_error("all_reduce:4q-:ring"), HasSubstr("\"4q\" is not a size"));
  EXPECT_THAT(parse_error("all_reduce:4k-4k:ring"), HasSubstr("is empty"));
  EXPECT_THAT(parse_error("all_reduce:ring@0"), HasSubstr("\"@0\" is not a number of channels"));
  EXPECT_THAT(parse_error("all_reduce:ring@x"), HasSubstr("\"@x\" is not a number of channels"));
  EXPECT_THAT(parse_error("all_reduce"), HasSubstr("collective:range:algorithm"));
  EXPECT_THAT(parse_error("all_reduce:1k-8k:ring;all_reduce:4k-:direct"),
              HasSubstr("\"all_reduce:4k-:direct\": its range overlaps"));
}

TEST(Overrides, MangledTextIsRefusedOrReadButNeverCrashes) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const std::string text = "all_reduce:0-4k:direct;all_reduce:4k-:ring@2";
  for (int round = 0; round < 5000; ++round) {
    std::string mangled = text;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const std::size_t at = random() % mangled.size();
      if (random() % 2 == 0)
        mangled.erase(at, 1);
      else
        mangled[at] = static_cast<char>(random() % 256);
      if (mangled.empty()) break;
    }
    const Result<Overrides> overrides = Overrides::parse(mangled);
    if (!overrides) {
      EXPECT_EQ(overrides.error().code(), Code::InvalidArgument) << "seed " << seed << ": " << mangled;
    }
  }
}

TEST(Choose, FewStepsForSmallMessagesAndFewBytesForLargeOnes) {
  CostModel model = model_of("dgx-h100", 8);
  const Choice small = chosen(all_reduce_of(8), model);
  EXPECT_THAT(small.winner().algorithm, AnyOf("direct", "recursive_doubling"));
  EXPECT_THAT(small.reason, HasSubstr("latency"));
  const Choice large = chosen(all_reduce_of(1 << 30), model);
  EXPECT_THAT(large.winner().algorithm, AnyOf("ring", "double_tree", "halving_doubling"));
  EXPECT_THAT(large.reason, HasSubstr("bandwidth"));
  EXPECT_EQ(large.source, ChoiceSource::Model);
  EXPECT_LT(small.winner().estimate_ns, large.winner().estimate_ns);
}

TEST(Choose, CandidatesAreSortedAndTheWinnerIsFirst) {
  CostModel model = model_of("dgx-h100", 8);
  for (const std::uint64_t bytes : {8ULL, 1ULL << 16, 1ULL << 26}) {
    const Choice choice = chosen(all_reduce_of(bytes), model);
    EXPECT_EQ(choice.bytes, bytes);
    EXPECT_EQ(choice.ranks, 8);
    std::int64_t before = 0;
    bool cannot = false;
    for (const Candidate& candidate : choice.candidates) {
      if (candidate.estimate_ns < 0) {
        cannot = true;
        EXPECT_FALSE(candidate.note.empty());
        continue;
      }
      EXPECT_FALSE(cannot) << "one that can comes after one that cannot";
      EXPECT_GE(candidate.estimate_ns, before);
      before = candidate.estimate_ns;
    }
  }
}

TEST(Choose, EqualInputGivesTheEqualChoiceWhateverWasAskedBefore) {
  CostModel fresh = model_of("dgx-h100", 8);
  CostModel used = model_of("dgx-h100", 8);
  for (std::uint64_t bytes = 1; bytes < 1 << 28; bytes *= 3) chosen(all_reduce_of(bytes), used);
  for (const std::uint64_t bytes : {100'000'000ULL, 5'000ULL, 12ULL})
    EXPECT_EQ(chosen(all_reduce_of(bytes), fresh), chosen(all_reduce_of(bytes), used)) << bytes;
}

TEST(Choose, DetailDoesNotChangeTheWinner) {
  CostModel model = model_of("cpu-2socket", 4);
  const Overrides overrides = rules("all_reduce:-64k:ring");
  for (std::uint64_t bytes = 8; bytes <= 1 << 26; bytes *= 8) {
    const Result<Choice> winner = choose(all_reduce_of(bytes), overrides, nullptr, model, Detail::Winner);
    ASSERT_TRUE(winner.has_value());
    const Choice full = chosen(all_reduce_of(bytes), model, overrides);
    EXPECT_EQ(winner->winner(), full.winner()) << bytes;
    EXPECT_GE(full.candidates.size(), winner->candidates.size());
  }
}

// There are no buckets of numbers of ranks. What one rank more or less changes is two steps where it makes the number a
// power of two: of nine for the smallest messages.
TEST(Choose, OneRankMoreOrLessIsServedByTheSameAlgorithmsInAboutTheSameTime) {
  const auto names = [](const Choice& choice) {
    std::set<std::string> all;
    for (const Candidate& candidate : choice.candidates)
      if (candidate.estimate_ns >= 0) all.insert(candidate.algorithm);
    return all;
  };
  const auto choice_of = [](int ranks, std::uint64_t bytes, Detail detail) {
    CostModel model = model_of("cores:256", ranks);
    return *choose(all_reduce_of(bytes), Overrides{{}, 1}, nullptr, model, detail);
  };
  for (const auto& [below, above] : {std::pair(31, 32), std::pair(32, 33)})
    EXPECT_EQ(names(choice_of(below, 1024, Detail::Everything)), names(choice_of(above, 1024, Detail::Everything)));
  for (const auto& [below, above] : {std::pair(31, 32), std::pair(32, 33), std::pair(127, 128), std::pair(128, 129)}) {
    for (const std::uint64_t bytes : {std::uint64_t{1024}, std::uint64_t{1} << 24}) {
      const Candidate a = choice_of(below, bytes, Detail::Winner).winner();
      const Candidate b = choice_of(above, bytes, Detail::Winner).winner();
      const auto [least, most] = std::minmax({static_cast<double>(a.estimate_ns), static_cast<double>(b.estimate_ns)});
      EXPECT_LE(most, 9.0 / 7.0 * least) << below << " ranks: " << a.algorithm << ", " << above << ": " << b.algorithm
                                         << ", " << bytes << " B";
    }
  }
}

TEST(Choose, InLargeGroupsWhatCannotWinIsNotSimulatedAndTheWinnerIsTheSame) {
  for (const std::string_view line : {"cores:64", "hosts:8 cores:8 nic:1 hdr", "dgx-h100 hosts:4"}) {
    for (const Collective collective : {Collective::AllReduce, Collective::AllGather, Collective::Broadcast}) {
      CostModel quick = model_of(line, 24);
      CostModel full = model_of(line, 24);
      for (const std::uint64_t bytes : {8ULL, 5000ULL, 1ULL << 20}) {
        Request request = all_reduce_of(bytes);
        request.collective = collective;
        request.count = count_of_bytes(collective, 24, bytes);
        const Result<Choice> winner = choose(request, {}, nullptr, quick, Detail::Winner);
        ASSERT_TRUE(winner.has_value());
        const Choice all = chosen(request, full);
        EXPECT_EQ(winner->winner(), all.winner()) << line << " " << bytes;
        for (const Candidate& candidate : all.candidates) {
          const Algorithm* const algorithm = find_algorithm(collective, candidate.algorithm);
          if (candidate.estimate_ns < 0) continue;
          CostModel bound = model_of(line, 24);
          EXPECT_LE(*bound.least_ns(*algorithm, candidate.channels / algorithm->native_channels, all.bytes),
                    candidate.estimate_ns)
              << candidate.algorithm;
        }
      }
    }
  }
}

TEST(Choose, AnOverrideWinsOverTheModel) {
  CostModel model = model_of("dgx-h100", 8);
  const Choice choice = chosen(all_reduce_of(8), model, rules("all_reduce:-4k:ring@4"));
  EXPECT_EQ(choice.source, ChoiceSource::Override);
  EXPECT_EQ(choice.winner().algorithm, "ring");
  EXPECT_EQ(choice.winner().channels, 4);
  EXPECT_GT(choice.candidates.size(), 1U);
  EXPECT_EQ(chosen(all_reduce_of(4096), model, rules("all_reduce:-4k:ring@4")).source, ChoiceSource::Model);
  const Selected winner = selected(choice);
  EXPECT_EQ(winner.algorithm, find_algorithm(Collective::AllReduce, "ring"));
  EXPECT_EQ(winner.replicas, 4);
}

TEST(Choose, ChannelsOfTheOptionsHoldForEveryCall) {
  CostModel model = model_of("dgx-h100", 8);
  Overrides overrides;
  overrides.channels = 2;
  for (const Candidate& candidate : chosen(all_reduce_of(1 << 20), model, overrides).candidates) {
    if (candidate.algorithm == "ring") {
      EXPECT_EQ(candidate.channels, 2);
    }
  }
}

TEST(Choose, TheMeasuredTableOfThisTopologyWinsOverTheModel) {
  CostModel model = model_of("dgx-h100", 8);
  MeasuredTable table;
  table.fingerprint = model.fingerprint();
  table.cells = {
      {Collective::AllReduce, 8, 1024, "ring", 1, 10'000},   {Collective::AllReduce, 8, 4096, "ring", 1, 20'000},
      {Collective::AllReduce, 8, 1024, "direct", 1, 20'000}, {Collective::AllReduce, 8, 4096, "direct", 1, 12'000},
      {Collective::AllReduce, 8, 4096, "gone", 1, 1},        {Collective::AllReduce, 4, 4096, "ring", 1, 1}};
  const Choice low = chosen(all_reduce_of(1024), model, {}, &table);
  EXPECT_EQ(low.source, ChoiceSource::Table);
  EXPECT_EQ(low.winner().algorithm, "ring");
  EXPECT_EQ(low.winner().estimate_ns, 10'000);
  const Choice high = chosen(all_reduce_of(4096), model, {}, &table);
  EXPECT_EQ(high.winner().algorithm, "direct");
  EXPECT_EQ(chosen(all_reduce_of(2560), model, {}, &table).winner().estimate_ns, 15'000);

  table.fingerprint = "another";
  const Choice ignored = chosen(all_reduce_of(1024), model, {}, &table);
  EXPECT_EQ(ignored.source, ChoiceSource::Model);
  EXPECT_THAT(ignored.reason, HasSubstr("another topology"));
}

TEST(Choose, OneRankHasNoAlternativeAndNoBytesAreWeighedAsAFew) {
  CostModel alone = model_of("dgx-h100", 1);
  const Choice one = chosen(all_reduce_of(1 << 20), alone);
  EXPECT_EQ(one.source, ChoiceSource::Only);
  EXPECT_EQ(one.candidates.size(), 1U);
  CostModel model = model_of("dgx-h100", 8);
  const Choice empty = chosen(all_reduce_of(0), model);
  EXPECT_EQ(empty.source, ChoiceSource::Model) << "there are " << empty.candidates.size() << " candidates";
  EXPECT_EQ(empty.winner(), chosen(all_reduce_of(8), model).winner());
}

TEST(Choose, ReadsWell) {
  CostModel model = model_of("dgx-h100", 8);
  const std::string text = chosen(all_reduce_of(64 << 20), model).to_string();
  EXPECT_THAT(text, HasSubstr("all_reduce of 64 MiB on 8 ranks\n  choice  "));
  EXPECT_THAT(text, HasSubstr("expected (cost model)\n  reason  "));
  EXPECT_THAT(text, HasSubstr("  also    "));
}

TEST(MeasuredTable, RoundTrips) {
  MeasuredTable table;
  table.fingerprint = "w1-\"x\"";
  table.cells = {{Collective::AllReduce, 8, 1024, "ring", 2, 10'000},
                 {Collective::Barrier, 3, 0, "dissemination", 1, 0}};
  const Result<MeasuredTable> read = MeasuredTable::from_json(table.to_json());
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(*read, table);
  EXPECT_EQ(*MeasuredTable::from_json(MeasuredTable().to_json()), MeasuredTable());
}

TEST(MeasuredTable, RefusesWhatItDoesNotKnowAndSaysWhere) {
  const auto error = [](std::string_view text) {
    const Result<MeasuredTable> table = MeasuredTable::from_json(text);
    return table ? "read" : std::string(table.error().message());
  };
  EXPECT_THAT(error("{\n  \"schema\": 1,,"), HasSubstr("line 2, column 15"));
  EXPECT_THAT(error(R"({"schema": 3, "fingerprint": "", "cells": []})"),
              HasSubstr("schema is not a whole number from 1 to 2"));
  EXPECT_THAT(error(R"({"schema": 1, "cells": []})"), HasSubstr("lacks \"fingerprint\""));
  EXPECT_THAT(error(R"({"schema": 1, "fingerprint": "", "cells": [], "x": 1})"), HasSubstr("unknown member \"x\""));
  EXPECT_THAT(error(R"({"schema": 1, "schema": 1, "fingerprint": "", "cells": []})"), HasSubstr("given twice"));
  EXPECT_THAT(
      error(
          R"({"schema": 1, "fingerprint": "", "cells": [{"collective": "ring", "ranks": 1, "bytes": 1, "algorithm": "a",
                        "channels": 1, "time_ns": 1}]})"),
      HasSubstr("cells[0].collective is not the name of a collective"));
  EXPECT_THAT(
      error(
          R"({"schema": 1, "fingerprint": "", "cells": [{"collective": "barrier", "ranks": 0, "bytes": 1, "algorithm": "a",
                        "channels": 1, "time_ns": 1}]})"),
      HasSubstr("cells[0].ranks is not a whole number from 1"));
}

TEST(MeasuredTable, MangledFilesAreCorruptAndNeverCrash) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  MeasuredTable table;
  table.fingerprint = "print";
  for (int i = 0; i < 5; ++i) table.cells.push_back({Collective::AllReduce, 8, 1024U << i, "ring", 2, 10'000 << i});
  const std::string text = table.to_json();
  for (int round = 0; round < 5000; ++round) {
    std::string mangled = text;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits)
      mangled[random() % mangled.size()] = static_cast<char>(random() % 256);
    if (random() % 4 == 0) mangled.resize(random() % mangled.size());
    const Result<MeasuredTable> read = MeasuredTable::from_json(mangled);
    if (!read) {
      EXPECT_EQ(read.error().code(), Code::Corrupt) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace weft::algorithms
