// JSON both ways: what is written reads back equal, and what schema 1 does not say is refused with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view json) {
  const Result<Graph> graph = from_json(json);
  if (graph) return "accepted";
  EXPECT_EQ(graph.error().code(), Code::Corrupt);
  return std::string(graph.error().message());
}

// The smallest graph, with one place to put something wrong.
std::string small(std::string_view node_extra, std::string_view links = "") {
  return R"({"schema":1,"name":"s","nodes":[{"id":0,"kind":"machine","name":"m","parent":-1,"host":0},)"
         R"({"id":1,"kind":"gpu","name":"g","parent":0,"host":0)" +
         std::string(node_extra) +
         R"(}],"links":[{"a":0,"b":1,"kind":"pci","bandwidth_gbs":1,"latency_us":0,"source":"x"})" +
         std::string(links) + "]}";
}

TEST(Json, every_model_reads_back_equal) {
  for (std::string_view name : model_names())
    for (const char* hosts : {"", " hosts:3"}) {
      const Graph graph = *model(std::string(name) + hosts);
      const Result<Graph> back = from_json(to_json(graph));
      ASSERT_TRUE(back) << name << ": " << back.status().to_string();
      EXPECT_EQ(*back, graph) << name;
    }
}

TEST(Json, every_field_reads_back_equal) {
  Graph graph = *model("gpu:1 nic:1 ndr");
  Node& node = graph.nodes[static_cast<std::size_t>(*graph.find("nic0"))];
  node.os_index = -3;
  node.bus_id = "0000:c1:00.0";
  node.device = "15b3:1021";
  node.model = "a \"quoted\"\n\\ name \xc3\xa9";
  node.names = {"mlx5_0", "ib0"};
  node.cpus = "0-3,8";
  node.cores = 7;
  node.memory_bytes = 18446744073709551615u;
  node.pci = PciLink{16.0, 8, 32.0, 16};
  node.fabric = true;
  node.network_gbs = 0.1 + 0.2;
  node.active = false;
  node.loopback_gbs = 1e-9;
  node.loopback_us = 3.3333333333333335;
  graph.links[0].count = 18;
  const Result<Graph> back = from_json(to_json(graph));
  ASSERT_TRUE(back) << back.status().to_string();
  EXPECT_EQ(*back, graph);
}

TEST(Json, a_number_of_xgmi_links_that_is_not_told_is_null) {
  Graph graph = *model("gpu:2");
  const std::vector<int> gpus = graph.ids(NodeKind::Gpu);
  graph.connect(gpus[0], gpus[1], LinkKind::Xgmi, 50, 1, "assumed", 0);
  const std::string text = to_json(graph);
  EXPECT_THAT(text, HasSubstr("\"count\": null"));
  const Result<Graph> back = from_json(text);
  ASSERT_TRUE(back) << back.status().to_string();
  EXPECT_EQ(*back, graph);
  EXPECT_EQ(graph.links.back().lane_gbs(), 50);
  graph.links.back().kind = LinkKind::NvLink;
  EXPECT_FALSE(graph.check().ok());
}

TEST(Json, text_that_is_not_utf8_does_not_stop_the_writer) {
  Graph graph = *model("cores:1");
  graph.name = "caf\xe9";
  const Result<Graph> back = from_json(to_json(graph));
  ASSERT_TRUE(back) << back.status().to_string();
  EXPECT_EQ(back->name, "caf\xef\xbf\xbd");
}

TEST(Json, the_small_graph_is_sound) { EXPECT_TRUE(from_json(small(""))) << from_json(small("")).status().to_string(); }

TEST(Json, broken_text_is_refused_with_its_place) {
  EXPECT_THAT(refusal(""), HasSubstr("nothing in it"));
  EXPECT_THAT(refusal("{\"schema\": 1,"), HasSubstr("line 1, column 14"));
  const std::string whole = to_json(*model("dgx-h100"));
  for (std::size_t cut : {std::size_t{1}, whole.size() / 2, whole.size() - 2})
    EXPECT_THAT(refusal(whole.substr(0, cut)), HasSubstr("not JSON at line"));
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("nested"));
  EXPECT_THAT(refusal("[]"), HasSubstr("not an object"));
  EXPECT_THAT(refusal("null"), HasSubstr("not an object"));
}

TEST(Json, missing_unknown_and_doubled_members_are_named) {
  EXPECT_THAT(refusal(R"({"schema":1,"nodes":[],"links":[]})"), HasSubstr("lacks \"name\""));
  EXPECT_THAT(refusal(R"({"schema":2,"name":"s","nodes":[],"links":[]})"),
              HasSubstr("schema is not a whole number from 1 to 1"));
  EXPECT_THAT(refusal(R"({"schema":1,"name":"s","links":[]})"), HasSubstr("lacks \"nodes\""));
  EXPECT_THAT(refusal(R"({"schema":1,"name":"s","nodes":[],"links":[]})"), HasSubstr("no machine"));
  EXPECT_THAT(refusal(R"({"schema":1,"name":"s","nodes":[{"id":0}],"links":[]})"),
              HasSubstr("nodes[0] lacks \"kind\""));
  EXPECT_THAT(refusal(small(R"(,"colour":"red")")), HasSubstr("nodes[1] has the unknown member \"colour\""));
  EXPECT_THAT(refusal(small(R"(,"host":0)")), HasSubstr("\"host\" is given twice"));
  EXPECT_THAT(refusal(small(R"(,"pci":{"lanes":4})")), HasSubstr("nodes[1].pci has the unknown member \"lanes\""));
}

TEST(Json, wrong_types_and_ranges_are_named) {
  EXPECT_THAT(refusal(small(R"(,"cpus":3)")), HasSubstr("nodes[1].cpus is not a text"));
  EXPECT_THAT(refusal(small(R"(,"fabric":1)")), HasSubstr("nodes[1].fabric is not true or false"));
  EXPECT_THAT(refusal(small(R"(,"names":["a",1])")), HasSubstr("nodes[1].names[1] is not a text"));
  EXPECT_THAT(refusal(small(R"(,"memory_bytes":-1)")), HasSubstr("memory_bytes"));
  EXPECT_THAT(refusal(small(R"(,"os_index":1.5)")), HasSubstr("os_index"));
  EXPECT_THAT(refusal(small(R"(,"os_index":99999999999)")), HasSubstr("os_index"));
  EXPECT_THAT(refusal(small(R"(,"loopback_gbs":1e999)")),
              HasSubstr("topology JSON: the number 1e999 at line 1, column"));
  EXPECT_THAT(refusal(small(R"(,"pci":{"width":0})")), HasSubstr("below 1"));
}

TEST(Json, links_and_ids_that_do_not_exist_are_named) {
  const auto link = [](const std::string& a, const std::string& kind, const std::string& rate) {
    return R"(,{"a":)" + a + R"(,"b":0,"kind":")" + kind + R"(","bandwidth_gbs":)" + rate +
           R"(,"latency_us":0,"source":"x"})";
  };
  EXPECT_THAT(refusal(small("", link("7", "pci", "1"))), HasSubstr("link 1 joins 7 and 0"));
  EXPECT_THAT(refusal(small("", link("0", "pci", "1"))), HasSubstr("not two nodes"));
  EXPECT_THAT(refusal(small("", link("1", "warp", "1"))), HasSubstr("links[1].kind is not a kind of link"));
  EXPECT_THAT(refusal(small("", link("1", "pci", "0"))), HasSubstr("bandwidth 0"));
  EXPECT_THAT(refusal(small("", link("1", "pci", "-4"))), HasSubstr("bandwidth -4"));
}

}  // namespace
}  // namespace weft::topology
