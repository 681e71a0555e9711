// What ranks tell each other is read back as it was written, and no bytes do harm.
#include "comm/control_message.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <utility>

#include "tests/comm/control_message_fuzz.hpp"
#include "weft/graph.hpp"

namespace weft::comm {
namespace {

ControlMessage sample() {
  ControlMessage message;
  message.kind = ControlKind::Fail;
  message.communicator = {7, 3};
  message.calls = {{1, 0x57000901, 0, 100, 42}, {2, 0x57000000, -1, 0, ~std::uint64_t{0}}};
  message.code = Code::Mismatch;
  message.peer = 5;
  message.text = "rank 0 called this, rank 5 called that";
  return message;
}

Agreement sample_agreement() {
  Agreement agreement;
  agreement.ranks = {{.host = 0,
                      .addresses = {{"shm", std::string("a\0b\xff", 4)}, {"ucx", "x"}},
                      .crosses_hosts = {"ucx"},
                      .reaches_leader = {"shm"}},
                     {.host = 1, .addresses = {{"ucx", "y"}}, .crosses_hosts = {"ucx"}, .reaches_leader = {}}};
  agreement.hosts = {"one", "two"};
  agreement.oversubscribed = {false, true};
  agreement.transports = {"shm", "ucx"};
  agreement.graph = *topology::model("hosts:2 numa:2 gpu:2 nvswitch:450 nic:2 ndr");
  agreement.algorithms = "all_reduce:ring";
  agreement.channels = 2;
  agreement.schedules = {{"ring.json", "{\"schema\": 1}"}, {"tree \"2\".json", ""}};
  return agreement;
}

TEST(ControlMessage, what_is_encoded_is_decoded) {
  const auto read = decode(encode(sample()));
  ASSERT_TRUE(read.has_value()) << read.status().to_string();
  EXPECT_EQ(*read, sample());
}

TEST(ControlMessage, a_question_tells_the_operators_of_its_calls) {
  ControlMessage message = sample();
  message.kind = ControlKind::Ask;
  message.operators = {{2, "'join' (commutes, is associative)"}};
  const std::string bytes = encode(message);
  const auto read = decode(bytes);
  ASSERT_TRUE(read.has_value()) << read.status().to_string();
  EXPECT_EQ(*read, message);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(decode(std::string_view(bytes).substr(0, length)).status().code(), Code::Corrupt) << length;
  message.operators.resize(kMaxAskedCalls + 1);
  EXPECT_EQ(decode(encode(message)).status().code(), Code::Corrupt);
}

TEST(ControlMessage, every_prefix_and_every_addition_is_refused) {
  const std::string bytes = encode(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(decode(std::string_view(bytes).substr(0, length)).status().code(), Code::Corrupt) << length;
  }
  EXPECT_EQ(decode(bytes + "x").status().code(), Code::Corrupt);
}

TEST(Agreement, what_is_written_is_read) {
  const auto read = agreement_from_json(to_json(sample_agreement()));
  ASSERT_TRUE(read.has_value()) << read.status().to_string();
  EXPECT_EQ(*read, sample_agreement());
}

TEST(Agreement, of_another_schema_names_both) {
  std::string text = to_json(sample_agreement());
  const std::size_t at = text.find_first_of("0123456789", text.find("\"schema\""));
  ASSERT_NE(at, std::string::npos);
  const char ours = std::exchange(text[at], '9');
  const Status status = agreement_from_json(text).status();
  EXPECT_EQ(status.code(), Code::Corrupt) << status.to_string();
  EXPECT_NE(status.message().find("9"), std::string::npos) << status.to_string();
  EXPECT_NE(status.message().find(ours), std::string::npos) << status.to_string();
}

TEST(Agreement, ranks_of_one_host_use_what_reached_its_first_rank_and_others_what_crosses_hosts) {
  Agreement agreement = sample_agreement();
  EXPECT_EQ(agreement.transport(0, 1), "ucx");
  EXPECT_EQ(agreement.transport(1, 0), "ucx");
  agreement.ranks[1].crosses_hosts = {};
  EXPECT_EQ(agreement.transport(0, 1), "") << "what crosses hosts is what both ranks' transports say";
  agreement.ranks[1] = {
      .host = 0, .addresses = {{"shm", "b"}, {"ucx", "y"}}, .crosses_hosts = {"ucx"}, .reaches_leader = {"shm", "ucx"}};
  EXPECT_EQ(agreement.transport(0, 1), "shm");
  agreement.ranks[1].reaches_leader = {"ucx"};
  agreement.ranks[0].reaches_leader = {"shm", "ucx"};
  EXPECT_EQ(agreement.transport(0, 1), "ucx") << "a mapping that failed is not used";
}

TEST(ControlFuzz, mutated_bytes_do_no_harm) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  RankFacts facts{"boot/host", "name", {0, 1, 2}, {{"shm", "abc"}}, {"ucx"}, "0123456789abcdef", "fedcba9876543210"};
  RankView view{{"shm"}, "{}"};
  const std::vector<std::string> corpus = {encode(sample()), to_json(facts), to_json(view),
                                           to_json(sample_agreement())};
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = corpus[random() % corpus.size()];
    const unsigned edits = 1 + random() % 4;
    for (unsigned edit = 0; edit < edits && !bytes.empty(); ++edit) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, 1 + random() % 8);
          break;
        case 2:
          bytes.insert(at, 1, static_cast<char>(random()));
          break;
        default:
          bytes.resize(at);
          break;
      }
    }
    check_any_control_bytes(bytes);
  }
}

}  // namespace
}  // namespace weft::comm
