// Runs the fuzz target of importers over seeds and seeded mutations of them: no input crashes it, hangs it or breaks a
// promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/topology/support/fuzz_runs.hpp"
#include "topology/import/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace weft::topology {
namespace {

constexpr int kMutations = 1200;
constexpr std::size_t kCuts = 150;  // of one text

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {"<system/>", "<!DOCTYPE a [<!ENTITY b \"c\">]><system/>", "GPU0", "GPU0 X",
                                    "=== ROCm System Management Interface"};
  for (const char* file : {"nccl-two-cpus.xml", "rccl-xgmi.xml", "nccl-bus-ids-only.xml", "nvidia-smi-3gpu-2nic.txt",
                           "rocm-smi-3gpu.txt", "hwloc1-two-sockets.xml", "hwloc3-nvswitch.xml"}) {
    std::ifstream in(std::string("tests/topology/data/") + file);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    EXPECT_FALSE(texts.back().empty()) << file;
  }
  return texts;
}

// One to three small edits: a byte, a cut, a copied piece, or a word put in place of another.
std::string mutate(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  static constexpr const char* kTokens[] = {
      "-1",     "0",     "99999999999999999999", "1e308", "0xffffff", "GPU0", "NIC0", "X", "NV18", "SYS", "\t", "\n",
      "</pci>", "<gpu/>"};
  for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    switch (below(8)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(16));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(40)));
        break;
      case 3:
        text.resize(at);
        break;
      default: {
        const std::size_t begin = text.find_first_of("0123456789", at);
        if (begin == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
        text.replace(begin, end - begin, kTokens[below(std::size(kTokens))]);
      }
    }
  }
  return text;
}

bool is_accepted(const std::string& text) {
  const std::string path = "fuzz";
  if (is_hwloc_xml(text)) return read_hwloc_xml(path, text).has_value();
  if (is_nccl_xml(text)) return read_nccl_xml(path, text).has_value();
  if (is_rocm_smi(text)) return read_rocm_smi(path, text).has_value();
  return is_nvidia_smi(text) && read_nvidia_smi(path, text).has_value();
}

TEST(ImportFuzz, seeds_keep_all_promises) {
  for (const std::string& text : seeds()) feed(text);
}

TEST(ImportFuzz, mutations_keep_all_promises) {
  const char* given = std::getenv("WEFT_TEST_SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
  std::printf("seed %u; replay with WEFT_TEST_SEED=%u\n", seed, seed);
  std::fflush(stdout);
  std::mt19937 random(seed);
  const std::vector<std::string> texts = seeds();
  const long runs = test::fuzz_runs(kMutations);
  long accepted = 0;
  for (long i = 0; i < runs; ++i) {
    const std::string text = mutate(texts[static_cast<std::size_t>(i) % texts.size()], random);
    feed(text);
    accepted += is_accepted(text) ? 1 : 0;
  }
  // Some mutations must get past the parsers, or this tests only the parsers.
  EXPECT_GT(accepted, runs / 100);
}

TEST(ImportFuzz, cuts_of_a_text_keep_all_promises) {
  for (const std::string& text : seeds()) {
    const std::size_t step = std::max<std::size_t>(1, text.size() / kCuts);
    for (std::size_t bytes = 0; bytes < text.size(); bytes += step) feed(text.substr(0, bytes));
  }
}

}  // namespace
}  // namespace weft::topology
