// What weft-bench reports: bandwidths as nccl-tests defines them, and the JSON's shape.
#include "bench/weft-bench/report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace weft::bench {
namespace {

Measurement measurement(Collective collective, int ranks) {
  Measurement result;
  result.what.call.collective = collective;
  result.what.call.dtype = DataType::Float32;
  result.what.call.count = 250;
  result.bytes = 1'000'000;
  result.ranks = ranks;
  result.algorithm = "ring";
  result.channels = 2;
  result.transport = "shm";
  result.time = {.min_us = 90, .median_us = 100, .p99_us = 150};
  result.checked = true;
  return result;
}

TEST(Report, bandwidths_are_those_of_nccl_tests) {
  EXPECT_DOUBLE_EQ(measurement(Collective::AllReduce, 4).algorithm_bandwidth_gbs(), 10.0);  // 1 MB in 100 us
  EXPECT_DOUBLE_EQ(measurement(Collective::AllReduce, 4).bus_bandwidth_gbs(), 15.0);
  for (const auto collective : {Collective::AllGather, Collective::ReduceScatter, Collective::AllToAll,
                                Collective::Gather, Collective::Scatter}) {
    EXPECT_DOUBLE_EQ(measurement(collective, 4).bus_bandwidth_gbs(), 7.5) << to_string(collective);
  }
  EXPECT_DOUBLE_EQ(measurement(Collective::Broadcast, 4).bus_bandwidth_gbs(), 10.0);
  EXPECT_DOUBLE_EQ(measurement(Collective::Reduce, 4).bus_bandwidth_gbs(), 10.0);
  EXPECT_DOUBLE_EQ(measurement(Collective::AllReduce, 1).bus_bandwidth_gbs(), 0.0);
}

TEST(Report, json_has_the_fields_of_schema_1) {
  Setting setting;
  setting.machine.host = "a \"quoted\" host";
  setting.places = {{"a", "0-1", 7}};
  const auto json = nlohmann::json::parse(to_json(setting, {measurement(Collective::AllReduce, 4)}));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("machine").at("host"), "a \"quoted\" host");
  const auto& result = json.at("results").at(0);
  EXPECT_EQ(result.at("collective"), "all_reduce");
  EXPECT_EQ(result.at("algorithm"), "ring");
  EXPECT_EQ(result.at("channels"), 2);
  EXPECT_EQ(result.at("transport"), "shm");
  EXPECT_EQ(result.at("ranks"), 4);
  EXPECT_EQ(result.at("dtype"), "float32");
  EXPECT_EQ(result.at("op"), "sum");
  EXPECT_EQ(result.at("bytes"), 1'000'000);
  EXPECT_EQ(result.at("in_place"), false);
  EXPECT_EQ(result.at("time_us"), nlohmann::json({{"min", 90.0}, {"median", 100.0}, {"p99", 150.0}}));
  EXPECT_DOUBLE_EQ(result.at("busbw_gbs"), 15.0);
  EXPECT_EQ(result.at("wrong"), 0);
}

TEST(Report, what_a_collective_has_not_is_null) {
  const auto json = nlohmann::json::parse(to_json({}, {measurement(Collective::AllGather, 2)}));
  EXPECT_TRUE(json.at("results").at(0).at("op").is_null());
  EXPECT_TRUE(json.at("results").at(0).at("root").is_null());
}

}  // namespace
}  // namespace weft::bench
