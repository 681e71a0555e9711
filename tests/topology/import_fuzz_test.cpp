// Runs the fuzz target of importers over seeds and seeded mutations of them: no input crashes it, hangs it or breaks a
// promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"
#include "topology/import/import.hpp"

namespace weft::topology {
namespace {

using test::feed;

constexpr int kMutations = 1200;
const std::vector<std::string> kWords = {"-1",    "0",        "99999999999999999999",
                                         "1e308", "0xffffff", "GPU0",
                                         "NIC0",  "X",        "NV18",
                                         "SYS",   "\t",       "\n",
                                         "> ",    "0: ",      "</pci>",
                                         "<gpu/>"};
constexpr std::size_t kCuts = 150;  // of one text

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {"<system/>",
                                    "<!DOCTYPE a [<!ENTITY b \"c\">]><system/>",
                                    "GPU0",
                                    "GPU0 X",
                                    "=== ROCm System Management Interface",
                                    "GPU[0] : (Topology) Numa Node: 0",
                                    "> GPU0 GPU1\n> GPU0 X SYS\n> GPU1 SYS X\n",
                                    "0: GPU0 GPU1\n0: GPU0 X SYS\n",
                                    "0: GPU0 GPU1\n1: GPU0 GPU1\n0: GPU0 X SYS\n1: GPU0 X SYS\n",
                                    "GPU0 GPU1 NI\nGPU0 X NV4 PI\nGPU1 NV4 X SY\nNIC0 PIX SYS\n"};
  for (const char* file : {"nccl-two-cpus.xml", "rccl-xgmi.xml", "nccl-bus-ids-only.xml", "nvidia-smi-3gpu-2nic.txt",
                           "rocm-smi-3gpu.txt", "hwloc1-two-sockets.xml", "hwloc3-nvswitch.xml"}) {
    std::ifstream in(std::string("tests/topology/data/") + file);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    EXPECT_FALSE(texts.back().empty()) << file;
  }
  return texts;
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
  EXPECT_GT(test::feed_mutations(seeds(), kWords, kMutations, is_accepted), 0.01);
}

TEST(ImportFuzz, cuts_of_a_text_keep_all_promises) {
  for (const std::string& text : seeds()) test::feed_cuts(text, kCuts);
}

}  // namespace
}  // namespace weft::topology
