// Vendors' libraries, played by libraries of our own: what they say reaches the survey, and none that hangs, crashes or
// chatters takes us with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/survey.hpp"
#include "topology/vendor/answers.hpp"
#include "topology/vendor/merge.hpp"
#include "topology/vendor/vendor.hpp"

namespace weft::topology {
namespace {

using std::chrono::steady_clock;
using test::RecordedTree;
using testing::HasSubstr;
using testing::IsEmpty;

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~ScopedVariable() { ::unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

class Vendor : public testing::Test {
 protected:
  // GPUs 0000:10:00.0 and so on below ports of their own, and a NIC.
  void add_gpus(int count) {
    tree_.add_cpus(1, 2);
    for (int i = 0; i < count; ++i) {
      char bus_id[] = "0000:1x:00.0";
      bus_id[6] = static_cast<char>('0' + i);
      tree_.add_pci({bus_id, {}, "0x030200", "0x10de", "0x2330", "0-1", -1, -1, {}});
    }
    const RecordedTree::Pci nic = {"0000:80:00.0", {}, "0x020700", "0x15b3", "0x1021", "0-1", -1, -1, {}};
    tree_.add_pci(nic);
    tree_.add_verbs("mlx5_0", nic, "4: ACTIVE", "400 Gb/sec (4X NDR)");
  }
  // The recorded tree with the library in that role beside it.
  Survey surveyed(const std::string& role, const char* library = FAKE_NVML) {
    const ScopedVariable role_variable("WEFT_TEST_VENDOR", role);
    const ScopedVariable nvml("WEFT_TEST_NVML_LIBRARY", library);
    Result<Survey> survey = topology::survey({tree_.root()});
    EXPECT_TRUE(survey) << survey.status().to_string();
    return survey ? std::move(*survey) : Survey();
  }
  static const DeviceFacts& gpu(const Survey& survey, const std::string& name) {
    const DeviceFacts* found = survey.facts(0).device(name);
    static const DeviceFacts nothing;
    EXPECT_NE(found, nullptr) << name;
    return found != nullptr ? *found : nothing;
  }
  static std::vector<Link> links(const Survey& survey, LinkKind kind) {
    std::vector<Link> found;
    for (const Link& link : survey.graph.links)
      if (link.kind == kind) found.push_back(link);
    return found;
  }
  static std::vector<Remark> remarks(const Survey& survey, std::string_view subject) {
    std::vector<Remark> found;
    for (const Remark& remark : survey.remarks)
      if (remark.subject.starts_with(subject)) found.push_back(remark);
    return found;
  }
  RecordedTree tree_;
};

TEST_F(Vendor, nvml_names_gpus_and_tells_clocks_and_state) {
  add_gpus(2);
  const Survey survey = surveyed("switch:2");
  const DeviceFacts& facts = gpu(survey, "gpu1");
  EXPECT_EQ(facts.uuid, "GPU-1");
  EXPECT_EQ(facts.index, 1);
  EXPECT_EQ(facts.sm, 90);
  EXPECT_EQ(facts.serial, std::nullopt) << "the library does not know it";
  EXPECT_EQ(facts.power_state, "P8");
  EXPECT_EQ(facts.clock_mhz, 345);
  EXPECT_EQ(facts.max_clock_mhz, 1980);
  EXPECT_EQ(facts.fabric_state, "in progress");
  EXPECT_EQ(survey.facts(0).kernel.nvidia_driver, "550.54.15");
  const Node& node = survey.graph.nodes.at(static_cast<std::size_t>(*survey.graph.find("gpu1")));
  EXPECT_EQ(node.model, "NVIDIA H100 80GB HBM3");
  EXPECT_THAT(node.names, testing::Contains("nvml1"));
  EXPECT_EQ(node.pci, (PciLink{2.5, 16, 32.0, std::nullopt}));
  EXPECT_THAT(remarks(survey, "NVML"), IsEmpty());
}

TEST_F(Vendor, links_to_switches_join_all_gpus_of_a_host) {
  add_gpus(8);
  const Survey survey = surveyed("switch:8");
  const std::vector<Link> nvlinks = links(survey, LinkKind::NvLink);
  ASSERT_EQ(nvlinks.size(), 8u);
  for (const Link& link : nvlinks) {
    EXPECT_EQ(link.count, 18);
    EXPECT_EQ(link.bandwidth_gbs, 450);
    EXPECT_EQ(link.source, "NVML");
  }
  EXPECT_EQ(survey.graph.ids(NodeKind::NvSwitch).size(), 1u);
  const Path path = survey.graph.best_path(*survey.graph.find("gpu0"), *survey.graph.find("gpu7"));
  EXPECT_EQ(path.path_class, PathClass::Nvl);
  const std::vector<NvLinkFacts>& facts = gpu(survey, "gpu3").nvlinks;
  ASSERT_EQ(facts.size(), 18u);
  EXPECT_EQ(facts[0], (NvLinkFacts{0, true, 4, "0000:f0:00.0", "switch", 26.562}));
}

TEST_F(Vendor, links_between_gpus_count_as_both_ends_see_them) {
  add_gpus(4);
  const Survey survey = surveyed("mesh:4");
  const std::vector<Link> nvlinks = links(survey, LinkKind::NvLink);
  ASSERT_EQ(nvlinks.size(), 6u);
  for (const Link& link : nvlinks) {
    const bool broken = link.a == *survey.graph.find("gpu0") && link.b == *survey.graph.find("gpu1");
    EXPECT_EQ(link.count, broken ? 1 : 2);
    EXPECT_EQ(link.bandwidth_gbs, broken ? 25 : 50);
  }
  const NvLinkFacts& down = gpu(survey, "gpu0").nvlinks.at(0);
  EXPECT_EQ(down, (NvLinkFacts{0, false, 4, std::nullopt, std::nullopt, std::nullopt}));
}

TEST_F(Vendor, c2c_links_join_gpu_and_cpu) {
  add_gpus(1);
  const Survey survey = surveyed("c2c:1");
  const std::vector<Link> c2c = links(survey, LinkKind::C2c);
  ASSERT_EQ(c2c.size(), 1u);
  EXPECT_EQ(c2c[0].bandwidth_gbs, 450);
  EXPECT_EQ(c2c[0].count, 10);
  EXPECT_THAT(links(survey, LinkKind::NvLink), IsEmpty());
}

TEST_F(Vendor, a_gpu_that_is_lost_is_said_and_the_others_stay) {
  add_gpus(3);
  const Survey survey = surveyed("lost:3");
  EXPECT_EQ(links(survey, LinkKind::NvLink).size(), 2u);
  ASSERT_EQ(remarks(survey, "NVML").size(), 1u);
  EXPECT_EQ(remarks(survey, "NVML")[0], (Remark{RemarkKind::Unreadable, "NVML GPU 1", "GPU is lost (15)"}));
}

TEST_F(Vendor, a_library_that_refuses_says_why) {
  add_gpus(1);
  const std::vector<Remark> said = remarks(surveyed("refuses"), "NVML");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].kind, RemarkKind::Unreadable);
  EXPECT_EQ(said[0].evidence, "Driver/library version mismatch (18)");
}

TEST_F(Vendor, a_library_that_hangs_is_given_up_in_time) {
  add_gpus(1);
  const auto before = steady_clock::now();
  const std::vector<Remark> said = remarks(surveyed("hangs"), "NVML");
  EXPECT_LT(steady_clock::now() - before, std::chrono::milliseconds(2 * kVendorTimeoutMs));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].kind, RemarkKind::GaveUp);
  EXPECT_THAT(said[0].evidence, HasSubstr("no answer within 2000 ms"));
}

TEST_F(Vendor, a_library_that_crashes_is_said) {
  add_gpus(1);
  const Survey survey = surveyed("crashes");
  ASSERT_EQ(remarks(survey, "NVML").size(), 1u);
  EXPECT_EQ(remarks(survey, "NVML")[0].kind, RemarkKind::GaveUp);
  EXPECT_THAT(remarks(survey, "NVML")[0].evidence, HasSubstr("crashed with signal 6"));
  EXPECT_EQ(survey.graph.ids(NodeKind::Gpu).size(), 1u);
}

TEST_F(Vendor, what_a_library_prints_does_not_matter) {
  add_gpus(1);
  EXPECT_THAT(remarks(surveyed("chatters"), "NVML"), IsEmpty());
}

TEST_F(Vendor, a_file_that_is_no_library_is_said) {
  add_gpus(1);
  tree_.write("/libnvidia-ml.so.1", "not a library");
  const std::vector<Remark> said = remarks(surveyed("mesh:1", (tree_.root() + "/libnvidia-ml.so.1").c_str()), "NVML");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0].evidence, HasSubstr("libnvidia-ml.so.1"));
  EXPECT_EQ(remarks(surveyed("mesh:1", FAKE_VERBS), "NVML").at(0).evidence, "it is no NVML of this decade");
}

TEST_F(Vendor, verbs_tell_the_mtu_of_ports) {
  add_gpus(1);
  const ScopedVariable verbs("WEFT_TEST_VERBS_LIBRARY", FAKE_VERBS);
  const Result<Survey> survey = topology::survey({tree_.root()});
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_EQ(gpu(*survey, "mlx5_0").ports.at(0).active_mtu, 1024);
  ASSERT_EQ(remarks(*survey, "libibverbs").size(), 1u);
  EXPECT_THAT(remarks(*survey, "libibverbs")[0].evidence, HasSubstr("Permission denied"));
}

TEST_F(Vendor, two_libraries_that_hang_share_one_deadline) {
  add_gpus(1);
  const ScopedVariable verbs("WEFT_TEST_VERBS_LIBRARY", FAKE_VERBS);
  const auto before = steady_clock::now();
  const Survey survey = surveyed("hangs");
  EXPECT_LT(steady_clock::now() - before, std::chrono::milliseconds(2 * kVendorTimeoutMs));
  EXPECT_EQ(remarks(survey, "NVML").size(), 1u);
  EXPECT_EQ(remarks(survey, "libibverbs").size(), 1u);
}

TEST_F(Vendor, nobody_is_asked_about_a_recorded_tree) {
  add_gpus(1);
  tree_.write("/proc/driver/nvidia/gpus/0000:10:00.0/information", "Model: x\n");
  const Tree tree(tree_.root());
  const VendorLibraries libraries = find_vendor_libraries({tree, {}});
  EXPECT_EQ(libraries.nvml, "");
  EXPECT_EQ(libraries.verbs, "");
}

// ---- the process

Result<std::string> answer_of(const std::string& script, int timeout_ms) {
  Result<Helper> helper = Helper::start("/bin/sh", {"-c", script});
  if (!helper) return helper.error();
  return helper->answer(base::Deadline::after_ms(timeout_ms));
}

TEST(HelperProcess, says_all_that_it_wrote) { EXPECT_EQ(*answer_of("echo one; echo two", 10'000), "one\ntwo\n"); }

TEST(HelperProcess, that_does_not_end_is_given_up) {
  EXPECT_EQ(answer_of("while :; do :; done", 100).status().code(), Code::Timeout);
}

TEST(HelperProcess, that_writes_without_end_is_given_up) {
  EXPECT_EQ(
      answer_of("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", 60'000).status().code(),
      Code::ResourceExhausted);
}

TEST(HelperProcess, that_said_all_but_stays_is_killed_and_heard) {
  EXPECT_EQ(*answer_of("echo all; exec >&-; while :; do :; done", 10'000), "all\n");
}

TEST(HelperProcess, that_fails_says_how) {
  EXPECT_THAT(answer_of("exit 3", 10'000).status().message(), HasSubstr("status 3"));
  EXPECT_THAT(answer_of("kill -9 $$", 10'000).status().message(), HasSubstr("signal 9"));
}

TEST(HelperProcess, hears_lines_and_answers_line_by_line) {
  Result<Helper> helper = Helper::start("/bin/sh", {"-c", "while read word; do echo \"heard $word\"; done"});
  ASSERT_TRUE(helper);
  const auto deadline = base::Deadline::after_ms(10'000);
  for (const char* word : {"one", "two"}) {
    ASSERT_TRUE(helper->say(word).ok());
    EXPECT_EQ(**helper->next_line(deadline), std::string("heard ") + word);
  }
  helper->hang_up();
  const Result<std::optional<std::string>> end = helper->next_line(deadline);
  ASSERT_TRUE(end) << end.status().to_string();
  EXPECT_EQ(*end, std::nullopt);
}

TEST(HelperProcess, that_hangs_between_two_lines_keeps_the_first) {
  Result<Helper> helper = Helper::start("/bin/sh", {"-c", "echo one; while :; do :; done"});
  ASSERT_TRUE(helper);
  EXPECT_EQ(**helper->next_line(base::Deadline::after_ms(10'000)), "one");
  EXPECT_EQ(helper->next_line(base::Deadline::after_ms(100)).status().code(), Code::Timeout);
}

TEST(HelperProcess, that_has_ended_cannot_be_told_anything) {
  Result<Helper> helper = Helper::start("/bin/sh", {"-c", "exec <&-; echo closed; read x"});
  ASSERT_TRUE(helper);
  EXPECT_EQ(**helper->next_line(base::Deadline::after_ms(10'000)), "closed");
  EXPECT_EQ(helper->say("hello").code(), Code::PeerLost);
}

TEST(HelperProcess, that_cannot_be_started_is_an_error) {
  EXPECT_EQ(Helper::start("/nonexistent", {"a", "b"}).status().code(), Code::SystemError);
}

TEST(HelperProgram, lies_beside_the_library) {
  EXPECT_THAT(find_helper(), testing::EndsWith("libexec/weft/weft-vendor"));
}

// ---- answers

TEST(Answers, that_are_not_as_expected_are_refused_with_their_place) {
  const auto why = [](std::string_view json) { return std::string(read_nvml_answer(json).status().message()); };
  EXPECT_THAT(why("{}"), HasSubstr("library"));
  EXPECT_THAT(why(R"({"library": "verbs"})"), HasSubstr("another library"));
  EXPECT_THAT(why(R"({"library": "nvml", "gpus": [{"index": -1}]})"), HasSubstr("gpus[0].index"));
  EXPECT_THAT(why(R"({"library": "nvml", "gpus": [{"index": 0, "bus_id": "x"}]})"), HasSubstr("no bus id"));
  EXPECT_THAT(why(R"({"library": "nvml", "gpus": [{"index": 0, "nvlinks": [{"index": 0}]}]})"), HasSubstr("active"));
  EXPECT_THAT(why(R"({"library": "nvml", "nonsense": 1})"), HasSubstr("nonsense"));
  EXPECT_THAT(why("garbage"), HasSubstr("answer of NVML"));
  EXPECT_FALSE(read_verbs_answer(R"({"library": "verbs", "devices": [{"name": "a", "ports": [{"number": 99}]}]})"));
}

TEST(Answers, about_gpus_that_are_not_there_change_nothing) {
  Survey survey;
  survey.graph = *model("gpu:2");
  survey.hosts.emplace_back();
  const Survey before = survey;
  const Result<NvmlAnswer> answer = read_nvml_answer(
      R"({"library": "nvml", "gpus": [{"index": 0, "bus_id": "0000:99:00.0",
          "nvlinks": [{"index": 0, "active": true, "remote_kind": "switch"}]}]})");
  ASSERT_TRUE(answer);
  merge_nvml(*answer, survey);
  EXPECT_EQ(survey, before);
}

}  // namespace
}  // namespace weft::topology
