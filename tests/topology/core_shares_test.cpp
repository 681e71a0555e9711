// Which CPUs ranks get: no two of them share a core where that can be avoided, whatever a dump tells of its cores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "topology/advice/binding_text.hpp"
#include "topology/advice/share_cores.hpp"
#include "topology/cpu_set.hpp"
#include "topology/import/import.hpp"

namespace weft::topology::advice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<int> range(int first, int last) {
  std::vector<int> cpus(static_cast<std::size_t>(last - first + 1));
  std::iota(cpus.begin(), cpus.end(), first);
  return cpus;
}

TEST(ShareCores, threads_of_a_core_stay_together) {
  const std::vector<int> cpus = range(0, 7);
  const auto shares = [&](const CpuPlace& place, std::size_t parts) {
    return share_evenly(cores_of(cpus, place).cores, parts);
  };
  EXPECT_THAT(shares({std::vector<std::string>{"0,4", "1,5", "2,6", "3,7"}, 4, 7}, 2),
              ElementsAre("0-1,4-5", "2-3,6-7"));
  EXPECT_THAT(shares({std::vector<std::string>{"0-1", "2-3", "4-5", "6-7"}, 4, 7}, 2), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(shares({{}, 4, 7}, 2), ElementsAre("0-1,4-5", "2-3,6-7"));
  EXPECT_THAT(shares({{}, 8, 7}, 2), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(shares({std::vector<std::string>{}, {}, 7}, 3), ElementsAre("0-1", "2-4", "5-7"));
}

TEST(ShareCores, ranks_share_a_core_where_there_are_too_few) {
  EXPECT_THAT(share_evenly({{3}, {4}}, 4), ElementsAre("3", "3", "4", "4"));
}

TEST(ShareCores, the_second_of_two_like_ranges_holds_the_second_threads) {
  const Cores cores = cores_of(cpus_of("0-51,104-155"), {{}, {}, 207});
  EXPECT_EQ(cores.threads, Threads::Apart);
  EXPECT_THAT(cores.distances, ElementsAre(104));
  EXPECT_THAT(share_evenly(cores.cores, 4),
              ElementsAre("0-12,104-116", "13-25,117-129", "26-38,130-142", "39-51,143-155"));
  // Parts of a socket are interleaved on some machines.
  const Cores parts = cores_of(cpus_of("0-1,4-5,16-17,20-21"), {{}, {}, 31});
  EXPECT_EQ(parts.threads, Threads::Apart);
  EXPECT_THAT(share_evenly(parts.cores, 2), ElementsAre("0-1,16-17", "4-5,20-21"));
}

TEST(ShareCores, ranges_too_near_for_the_host_are_no_threads) {
  const Cores cores = cores_of(cpus_of("0-3,8-11"), {{}, {}, 67});
  EXPECT_EQ(cores.threads, Threads::Unknown);
  EXPECT_THAT(cores.distances, ElementsAre(1));
}

TEST(ShareCores, one_range_may_be_numbered_either_way) {
  const Cores whole = cores_of(range(0, 15), {{}, {}, 15});
  EXPECT_EQ(whole.threads, Threads::Unknown);
  EXPECT_THAT(whole.distances, ElementsAre(1, 8));
  EXPECT_THAT(share_evenly(whole.cores, 2), ElementsAre("0-3,8-11", "4-7,12-15"));
  // Of half of the host: second threads would be on the other half.
  const Cores half = cores_of(range(24, 47), {{}, {}, 47});
  EXPECT_THAT(half.distances, ElementsAre(1));
  EXPECT_THAT(share_evenly(half.cores, 4), ElementsAre("24-29", "30-35", "36-41", "42-47"));
  // Sockets take turns.
  const Cores even = cores_of(cpus_of("0,2,4,6,8,10"), {{}, {}, 11});
  EXPECT_EQ(even.threads, Threads::Unknown);
  EXPECT_THAT(share_evenly(even.cores, 3), ElementsAre("0,6", "2,8", "4,10"));
}

TEST(ShareCores, a_number_of_cores_tells_what_only_one_numbering_fits) {
  const Cores power = cores_of(range(8, 15), {{}, 2, 175});
  EXPECT_EQ(power.threads, Threads::Told);
  EXPECT_THAT(share_evenly(power.cores, 2), ElementsAre("8-11", "12-15"));
  EXPECT_EQ(cores_of(range(24, 47), {{}, 12, 47}).threads, Threads::Told);
  EXPECT_EQ(cores_of(range(0, 15), {{}, 8, 15}).threads, Threads::Unknown);
}

TEST(ShareCores, the_usual_numbering_of_x86_holds_where_sets_for_both_are_too_few) {
  const Cores cores = cores_of(range(0, 11), {{}, {}, 11, 4});
  EXPECT_EQ(cores.threads, Threads::Unknown);
  EXPECT_THAT(cores.distances, ElementsAre(6));
  EXPECT_EQ(cores.cores.size(), 6u);
  const Cores single = cores_of(range(0, 11), {{}, {}, 11, 8});
  EXPECT_THAT(single.distances, IsEmpty());
  EXPECT_THAT(share_evenly(single.cores, 8), ElementsAre("0", "1-2", "3", "4-5", "6", "7-8", "9", "10-11"));
}

TEST(ShareCores, odd_lists_are_taken_as_they_are) {
  for (const char* list : {"0-2", "5", "0,3,4", "1-2,5,9"}) {
    const Cores cores = cores_of(cpus_of(list), {{}, {}, 15});
    EXPECT_EQ(cores.cores.size(), cpus_of(list).size()) << list;
    EXPECT_THAT(cores.distances, IsEmpty()) << list;
  }
  EXPECT_THAT(cores_of({}, {}).cores, IsEmpty());
}

// Of each list: however the threads are numbered, if Linux can number them so, no core is in two shares.
TEST(ShareCores, no_core_is_in_two_shares_whichever_usual_numbering_holds) {
  for (int half : {4, 6, 8, 12, 20, 48})
    for (std::size_t parts : {2, 3, 4}) {
      const Cores cores = cores_of(range(0, 2 * half - 1), {{}, {}, 2 * half - 1});
      if (cores.cores.size() < parts) continue;
      for (int distance : {1, half}) {
        std::set<int> seen;  // first threads of cores
        std::size_t all = 0;
        for (const std::string& share : share_evenly(cores.cores, parts)) {
          std::set<int> here;
          for (int cpu : cpus_of(share)) here.insert(distance == 1 ? cpu / 2 : cpu % half);
          all += here.size();
          seen.insert(here.begin(), here.end());
        }
        EXPECT_EQ(all, seen.size()) << 2 * half << " CPUs, " << parts << " ranks, threads n and n+" << distance;
      }
    }
}

HostBindings bindings_of(const Result<Survey>& survey) {
  EXPECT_TRUE(survey) << survey.status().to_string();
  if (!survey) return {};
  Locality locality(survey->graph);
  return bind_host(*survey, locality, 0);
}

std::vector<std::string> cpus_in(const HostBindings& host) {
  std::vector<std::string> cpus;
  for (const Binding& rank : host.ranks) cpus.push_back(rank.cpus);
  return cpus;
}

std::vector<int> memory_in(const HostBindings& host) {
  std::vector<int> nodes;
  for (const Binding& rank : host.ranks) nodes.push_back(rank.memory_node.value_or(-1));
  return nodes;
}

// Four GPUs, two on each NUMA node.
Result<Survey> nvidia_smi(const std::string& first, const std::string& second) {
  const auto row = [&](int gpu) {
    std::string text = "GPU" + std::to_string(gpu);
    for (int other = 0; other < 4; ++other) text += gpu == other ? "\t X " : gpu / 2 == other / 2 ? "\tNODE" : "\tSYS";
    return text + "\t" + (gpu < 2 ? first + "\t0" : second + "\t1") + "\n";
  };
  std::string text = "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n";
  for (int gpu = 0; gpu < 4; ++gpu) text += row(gpu);
  return read_nvidia_smi("topo.txt", text);
}

TEST(Bindings, cpu_lists_of_nvidia_smi_are_shared_by_cores) {
  const HostBindings host = bindings_of(nvidia_smi("0-3,8-11", "4-7,12-15"));
  EXPECT_THAT(cpus_in(host), ElementsAre("0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"));
  EXPECT_THAT(memory_in(host), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(host.notes, ElementsAre(HasSubstr("CPUs n and n+8 are taken for threads of one core")));
}

TEST(Bindings, what_is_not_told_of_threads_is_said) {
  const HostBindings one = bindings_of(nvidia_smi("0-7", "8-15"));
  EXPECT_THAT(cpus_in(one), ElementsAre("0-3", "4-7", "8-11", "12-15"));
  EXPECT_THAT(one.notes, ElementsAre(HasSubstr("not told; if n and n+1 are, ranks share none")));
  const HostBindings odd = bindings_of(nvidia_smi("0-2", "3-5"));
  EXPECT_THAT(odd.notes, ElementsAre(HasSubstr("not told: ranks may share cores")));
}

std::string nccl_cpu(int numa, const std::string& mask) {
  std::string text = "<cpu numaid=\"" + std::to_string(numa) + "\" affinity=\"" + mask +
                     "\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">\n";
  for (int i = 0; i < 2; ++i) {
    const std::string bus = std::to_string(numa) + std::to_string(i);
    text += "<pci busid=\"0000:" + bus +
            ":00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" link_speed=\"32.0 GT/s PCIe\" "
            "link_width=\"16\"><gpu dev=\"" +
            std::to_string(2 * numa + i) + "\" sm=\"90\" rank=\"" + std::to_string(2 * numa + i) +
            "\" gdr=\"1\"/></pci>\n";
  }
  return text + "</cpu>\n";
}

Result<Survey> nccl(const std::string& first, const std::string& second) {
  return read_nccl_xml("topo.xml",
                       "<system version=\"1\">\n" + nccl_cpu(0, first) + nccl_cpu(1, second) + "</system>\n");
}

TEST(Bindings, cpu_masks_of_nccl_are_shared_by_cores) {
  const HostBindings host = bindings_of(nccl("00000f0f", "0000f0f0"));
  EXPECT_THAT(cpus_in(host), ElementsAre("0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"));
  EXPECT_THAT(memory_in(host), ElementsAre(0, 0, 1, 1));
}

// As the files of some clouds have it.
TEST(Bindings, numa_nodes_that_are_told_to_have_the_same_cpus_bind_by_node) {
  const Result<Survey> survey = nccl("0000000f", "0000000f");
  const HostBindings host = bindings_of(survey);
  EXPECT_THAT(cpus_in(host), ElementsAre("", "", "", ""));
  EXPECT_THAT(memory_in(host), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(host.notes, ElementsAre(HasSubstr("gives the NUMA nodes 0, 1 the same CPUs (0-3)")));
  Locality locality(survey->graph);
  EXPECT_THAT(*binding_text(BindingForm::Numactl, *survey, locality),
              HasSubstr("\nnumactl --cpunodebind=1 --membind=1 PROGRAM\n"));
  EXPECT_THAT(*binding_text(BindingForm::Mpirun, *survey, locality),
              HasSubstr("\n# rank 2 (gpu2): only its memory node is known: 1\n"));
  EXPECT_THAT(*binding_text(BindingForm::Torchrun, *survey, locality),
              HasSubstr("2) exec numactl --cpunodebind=1 --membind=1 \"$@\" ;;"));
}

TEST(Bindings, a_memory_node_is_told_where_cpus_are_not) {
  const Result<Survey> survey = load_survey("tests/topology/data/rocm-smi-3gpu.txt");
  EXPECT_THAT(memory_in(bindings_of(survey)), ElementsAre(0, 0, 1));
}

TEST(Bindings, cores_of_hwloc_xml_are_those_it_tells) {
  const Result<Survey> survey = load_survey("tests/topology/data/lassen-4xv100-power9-hwloc1.xml");
  ASSERT_TRUE(survey);
  ASSERT_TRUE(survey->facts(0).shared_cores.has_value());
  EXPECT_EQ(survey->facts(0).shared_cores->front(), "8-11");
  const HostBindings host = bindings_of(survey);
  EXPECT_THAT(cpus_in(host), ElementsAre("8-47", "48-87", "96-135", "136-175"));
  for (const std::string& note : host.notes) EXPECT_THAT(note, Not(HasSubstr("thread")));
}

TEST(Bindings, a_part_of_the_cpus_keeps_the_threads_of_its_cores) {
  Result<Survey> survey = nccl("00000f0f", "0000f0f0");
  ASSERT_TRUE(survey);
  survey->hosts.resize(1);
  survey->hosts[0].process.allowed_cpus = "0-1,4-5,8-9,12-13";
  EXPECT_THAT(cpus_in(bindings_of(survey)), ElementsAre("0,8", "1,9", "4,12", "5,13"));
}

}  // namespace
}  // namespace weft::topology::advice
