// Schedules and simulations as files: exact round trips, strict reading, and forms that other programs accept.
#include "algorithms/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "algorithms/verify.hpp"
#include "weft/graph.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Schedule ring_schedule(int ranks, BuildOptions options = {}) {
  return build_schedule(*find_algorithm(Collective::AllReduce, "ring"), flat_group(ranks), options);
}

std::string reading_error(std::string_view text) {
  const Result<Schedule> schedule = schedule_from_json(text);
  if (schedule) return "read";
  EXPECT_EQ(schedule.error().code(), Code::Corrupt);
  return std::string(schedule.error().message());
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

Simulation simulated(const Schedule& schedule, std::uint64_t bytes) {
  const Result<topology::Graph> graph = topology::model("dgx-h100");
  Result<Fabric> fabric = Fabric::create(*graph, *topology::place(*graph, schedule.size));
  Result<Simulation> simulation = simulate(schedule, bytes, DataType::UInt8, *fabric);
  EXPECT_TRUE(simulation.has_value());
  return std::move(simulation).value();
}

TEST(ScheduleJson, EverySchedulePassesThroughUnchanged) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int ranks : {1, 2, 3, 8}) {
      const Group group = flat_group(ranks);
      const Request request = {.collective = algorithm->collective, .count = 1024};
      if (!algorithm->unsupported(group, request).empty()) continue;
      for (const bool in_place : {false, true}) {
        BuildOptions options;
        options.in_place = in_place;
        options.root = ranks - 1;
        options.uneven = in_place;
        const Schedule schedule = build_schedule(*algorithm, group, options);
        const Result<Schedule> read = schedule_from_json(to_json(schedule));
        ASSERT_TRUE(read.has_value()) << algorithm->name << ": " << read.error().to_string();
        EXPECT_EQ(*read, schedule) << algorithm->name << " on " << ranks;
      }
    }
  }
}

TEST(ScheduleJson, ProjectedAndReplicatedSchedulesPassToo) {
  const Schedule projected = ring_schedule(5, {.only_rank = 2});
  EXPECT_EQ(*schedule_from_json(to_json(projected)), projected);
  const Schedule replicated = ring_schedule(4, {.replicas = 3});
  EXPECT_EQ(*schedule_from_json(to_json(replicated)), replicated);
  EXPECT_EQ(schedule_from_json(to_json(replicated))->channels, 3);
}

TEST(ScheduleJson, NamesAreEscaped) {
  Schedule schedule = ring_schedule(2);
  schedule.algorithm = "my \"ring\"\n\\ (\xc3\xa9)";
  EXPECT_EQ(*schedule_from_json(to_json(schedule)), schedule);
}

TEST(ScheduleJson, ErrorsSayWhere) {
  const std::string text = to_json(ring_schedule(3));
  EXPECT_THAT(reading_error(text.substr(0, text.size() / 2)), StartsWith("schedule JSON: not JSON at line "));
  EXPECT_THAT(reading_error(replaced(text, "\"schema\": 1", "\"schema\": 2")),
              HasSubstr("schema is not a whole number from 1 to 1"));
  EXPECT_THAT(reading_error(replaced(text, "\"size\": 3", "\"size\": 0")),
              HasSubstr("size is not a whole number from 1"));
  EXPECT_THAT(reading_error(replaced(text, "\"size\": 3", "\"size\": 4")),
              HasSubstr("ranks has 3 entries for 4 ranks"));
  EXPECT_THAT(reading_error(replaced(text, "\"size\": 3", "\"size\": 3, \"sise\": 3")),
              HasSubstr("the document has the unknown member \"sise\""));
  EXPECT_THAT(reading_error(replaced(text, "\"size\": 3", "\"size\": 3, \"size\": 3")),
              HasSubstr("\"size\" is given twice"));
  EXPECT_THAT(reading_error(replaced(text, "\"kind\": \"", "\"kind\": \"X")),
              HasSubstr("ranks[0].channels[0][0].kind is not the name of a step"));
  EXPECT_THAT(reading_error(replaced(text, "\"peer\": ", "\"peer\": 7")),
              HasSubstr("ranks[0].channels[0][0].peer is not a whole number from 0 to 2"));
  EXPECT_THAT(reading_error(replaced(text, "[\"in\", 0, ", "[\"in\", ")),
              HasSubstr("is not [space, slot, first, count]"));
  EXPECT_THAT(reading_error(replaced(text, "\"program_hash\": \"", "\"program_hash\": \"x")),
              HasSubstr("16 hexadecimal digits"));
  EXPECT_THAT(reading_error("[]"), HasSubstr("the document is not an object"));
  EXPECT_THAT(reading_error(std::string(100, '[')), HasSubstr("nested"));
}

TEST(ScheduleJson, OnlyScratchHasSlots) {
  const std::string text = to_json(ring_schedule(3));
  EXPECT_THAT(reading_error(replaced(text, "[\"in\", 0, ", "[\"in\", 1, ")),
              HasSubstr("src[1] is not a whole number from 0 to 0"));
  EXPECT_THAT(reading_error(replaced(text, "[\"out\", 0, ", "[\"out\", 3, ")),
              HasSubstr("dst[1] is not a whole number from 0 to 0"));
  EXPECT_THAT(reading_error(replaced(text, "[\"in\", 0, ", "[\"none\", 0, ")),
              HasSubstr("src[0] is not in, out or scratch"));
}

TEST(ScheduleJson, ChunksThatCannotBeNumberedAreRefused) {
  std::string text = to_json(build_schedule(*find_algorithm(Collective::AllToAll, "pairwise"), flat_group(3)));
  text = replaced(text, "\"chunks_per_block\": 1", "\"chunks_per_block\": 16777216");
  EXPECT_EQ(reading_error(replaced(text, "\"size\": 3", "\"size\": 60000")),
            "schedule JSON: chunks_per_block is more than can be numbered");
}

TEST(ScheduleJson, MangledFilesAreCorruptOrReadAndThenSafeToVerify) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const std::string text = to_json(ring_schedule(3));
  const std::string alphabet = "0123456789-,[]{}\":.eE inoutscrachSendRecvReduceWaitCopy\xff";
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string mangled = text;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits)
      mangled[random() % mangled.size()] = alphabet[random() % alphabet.size()];
    const Result<Schedule> schedule = schedule_from_json(mangled);
    if (!schedule) {
      EXPECT_EQ(schedule.error().code(), Code::Corrupt) << "seed " << seed;
      continue;
    }
    ++read;
    const Status verified = verify(*schedule);
    EXPECT_TRUE(verified.ok() || verified.code() == Code::Corrupt) << "seed " << seed;
    EXPECT_FALSE(to_text(*schedule).empty());
    EXPECT_FALSE(to_dot(*schedule).empty());
  }
  EXPECT_GT(read, 0) << "seed " << seed;
}

TEST(ScheduleText, SaysWhoSendsToWhomAndWhatEachRankDoes) {
  const std::string text = to_text(ring_schedule(4));
  EXPECT_THAT(text, StartsWith("all_reduce/ring: 4 ranks, 1 channel, 1 block of 4 chunks, program "));
  EXPECT_THAT(text, HasSubstr("     0 . 6 . .\n"));
  EXPECT_THAT(text, HasSubstr("     3 6 . . .\n"));
  EXPECT_THAT(text, HasSubstr("\nrank 3, scratch for "));
  EXPECT_THAT(text, HasSubstr("receive from 2 and reduce"));
  EXPECT_THAT(text, HasSubstr("send that to 0"));
  EXPECT_THAT(text, HasSubstr("(complete)"));
  const std::string one = to_text(ring_schedule(4), 2);
  EXPECT_THAT(one, HasSubstr("\nrank 2,"));
  EXPECT_THAT(one, ::testing::Not(HasSubstr("\nrank 3,")));
}

TEST(ScheduleDot, HasANodePerStepAndAnArrowPerMessage) {
  const Schedule schedule = ring_schedule(3);
  const std::string dot = to_dot(schedule);
  std::size_t steps = 0;
  for (const RankProgram& rank : schedule.ranks) steps += rank.channels[0].size();
  std::size_t labels = 0;
  std::size_t arrows = 0;
  for (std::size_t at = dot.find("[label = "); at != std::string::npos; at = dot.find("[label = ", at + 1)) ++labels;
  for (std::size_t at = dot.find("[color = blue"); at != std::string::npos; at = dot.find("[color = blue", at + 1))
    ++arrows;
  EXPECT_EQ(labels, steps);
  EXPECT_EQ(arrows, 12U);  // 2(P-1) messages from each rank
  EXPECT_THAT(dot, StartsWith("digraph \"all_reduce/ring, 3 ranks\" {"));
}

TEST(ChromeTrace, EventsAreOrderedPairsWithinTheMakespan) {
  const Simulation simulation = simulated(ring_schedule(4), 1 << 20);
  const nlohmann::json trace = nlohmann::json::parse(to_chrome_trace(simulation));
  const double end_us = static_cast<double>(simulation.makespan_ps) / 1e6;
  std::size_t steps = 0;
  std::set<int> starts;
  std::set<int> finishes;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "M") continue;
    EXPECT_LE(event["ts"].get<double>(), end_us + 1e-6);
    if (phase == "X") {
      ++steps;
      EXPECT_GE(event["dur"].get<double>(), 0);
      EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(), end_us + 1e-6);
    }
    if (phase == "s" || phase == "f") {
      EXPECT_TRUE((phase == "s" ? starts : finishes).insert(event["id"].get<int>()).second);
    }
  }
  EXPECT_EQ(steps, simulation.timeline.size());
  EXPECT_EQ(starts.size(), simulation.messages.size());
  EXPECT_EQ(starts, finishes);
}

TEST(SimulationJson, HoldsTheNumbersOfTheSimulation) {
  const Simulation simulation = simulated(ring_schedule(4), 1 << 20);
  const nlohmann::json json = nlohmann::json::parse(to_json(simulation));
  EXPECT_EQ(json["makespan_ps"].get<std::int64_t>(), simulation.makespan_ps);
  EXPECT_EQ(json["steps"].size(), simulation.timeline.size());
  EXPECT_EQ(json["messages"].size(), simulation.messages.size());
  EXPECT_EQ(json["critical"]["bottleneck"].get<std::string>(), simulation.critical.bottleneck);
  EXPECT_THAT(to_text(simulation), HasSubstr("bound by    " + simulation.critical.bottleneck));
}

TEST(ChoiceJson, HoldsAllCandidates) {
  Choice choice;
  choice.collective = Collective::AllReduce;
  choice.ranks = 8;
  choice.bytes = 64;
  choice.reason = "because \"so\"";
  choice.candidates = {{"ring", 2, 1000, "a -> b", "bandwidth"}, {"direct", 1, -1, "", "too many"}};
  const nlohmann::json json = nlohmann::json::parse(to_json(choice));
  EXPECT_EQ(json["source"], "model");
  EXPECT_EQ(json["reason"], "because \"so\"");
  EXPECT_EQ(json["candidates"][0]["algorithm"], "ring");
  EXPECT_EQ(json["candidates"][1]["estimate_ns"], -1);
}

}  // namespace
}  // namespace weft::algorithms
