// Runs the fuzz target of facts and of vendors' answers over seeds and seeded mutations of them: no input crashes it,
// hangs it or breaks a promise.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"
#include "topology/vendor/answers.hpp"

namespace weft::topology {
namespace {

using test::feed;

// The first byte chooses the reader.
constexpr char kTables = '\0';
constexpr char kWords = '\1';
constexpr char kConfigSpace = '\2';
constexpr char kNvml = '\3';
constexpr char kVerbs = '\4';
constexpr char kGpuCopies = '\5';

std::string config_space() {
  std::string bytes(4096, '\0');
  const auto put = [&](std::size_t at, unsigned value) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i & 0xff);
  };
  put(0x100, 0x14820001);
  put(0x148, 0x1a010019);  // a capability that is not ACS
  put(0x1a0, 0x0001000d);
  put(0x1a4, 0x001d005f);
  return bytes;
}

std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  const auto add = [&](char reader, const std::string& text) { seeds.push_back(reader + text); };
  add(kTables,
      "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\nlo\t0000007F\t0\t1\t0\t0\t0\t000000FF\n"
      "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\neth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\n"
      "  |-- 10.0.0.4\n     /32 host LOCAL\n  |-- 127.0.0.1\n     /32 host LOCAL\n");
  add(kTables, "fe800000000000000000000000000001 02 40 20 80     eth0\n");
  add(kWords, "31 1 0:30 / /dev/shm rw,nosuid shared:9 - tmpfs shm rw,size=65536k\n");
  add(kWords,
      "Max locked memory         8388608              unlimited            bytes\n"
      "CapEff:\t00000000a80425fb\nCpus_allowed_list:\t0-7\nMems_allowed_list:\t0\n");
  add(kWords,
      "7f00 default anon=30 dirty=30 N0=20 N1=10 kernelpagesize_kB=4\n7f10 default anon=1 N1=1 "
      "kernelpagesize_kB=2048\n");
  add(kWords, "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nflags\t: fpu hypervisor\n");
  add(kWords, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n");
  add(kWords, std::string("PATH=/bin\0NCCL_DEBUG=INFO\0", 27));
  add(kConfigSpace, config_space());
  add(kNvml, R"({"library": "nvml", "driver": "550.54.15", "gpus": [{"index": 0, "bus_id": "0000:10:00.0",
      "uuid": "GPU-0", "name": "NVIDIA H100", "sm": 90, "pcie_generation": 5, "pcie_width": 16, "power_state": 0,
      "clock_mhz": 1980, "fabric_state": 3, "c2c": {"count": 10, "mbs": 45000}, "nvlinks": [
      {"index": 0, "active": true, "version": 6, "mbs": 26562, "remote_kind": "gpu", "remote_bus_id": "0000:11:00.0"},
      {"index": 1, "active": true, "remote_kind": "switch"}, {"index": 2, "active": false}]},
      {"index": 1, "bus_id": "0000:11:00.0", "nvlinks": [{"index": 0, "active": true, "remote_kind": "cpu"}]}]})");
  add(kNvml, R"({"library": "nvml", "error": "Driver/library version mismatch"})");
  add(kVerbs, R"({"library": "verbs", "devices": [{"name": "mlx5_0", "ports": [
      {"number": 1, "state": 4, "active_mtu": 3, "max_mtu": 5}]}, {"name": "x", "error": "cannot be opened"}]})");
  add(kGpuCopies, R"({"round": 3, "copies": [{"gbs": 24.8}, {"error": "the GPU is lost"}]})");
  return seeds;
}

TEST(FactsFuzz, seeds_keep_all_promises) {
  for (const std::string& seed : seeds()) feed(seed);
}

TEST(FactsFuzz, mutations_keep_all_promises) {
  const long runs = test::fuzz_runs(8000);
  std::mt19937 random = test::seeded_random();
  const std::vector<std::string> texts = seeds();
  const std::vector<std::string> words = {
      "-1", "0", "99999999999999999999", "1e308", "0x7f", "unlimited", "{}", "[]", "false", "\"a\"", "255", "32",
      "\n", "\t"};
  long accepted = 0;
  for (long i = 0; i < runs; ++i) {
    const std::string& seed = texts[static_cast<std::size_t>(i) % texts.size()];
    const std::string text = seed.front() + test::mutate(seed.substr(1), words, random);
    feed(text);
    accepted += text.front() == kNvml && read_nvml_answer(std::string_view(text).substr(1)) ? 1 : 0;
  }
  // Some answers must get past the parser, or this tests only that.
  EXPECT_GT(accepted, runs / 1000);
}

TEST(FactsFuzz, every_cut_of_a_text_keeps_all_promises) {
  for (const std::string& text : seeds()) test::feed_cuts(text);
}

}  // namespace
}  // namespace weft::topology
