// Cases of the rules about what a source says, what was measured, and what was expected.
#include "audit_cases.hpp"
#include "topology/sources.hpp"

namespace weft::topology::audit {
namespace {

void add_remarks(std::vector<Case>& cases) {
  struct Kind {
    RemarkKind kind;
    std::string_view rule;
  };
  constexpr Kind kKinds[] = {{RemarkKind::Incomplete, "source.incomplete"},
                             {RemarkKind::Contradiction, "source.contradiction"},
                             {RemarkKind::Unreadable, "source.unreadable"},
                             {RemarkKind::GaveUp, "source.gave_up"},
                             {RemarkKind::Unmeasured, "perf.unmeasured"}};
  for (const auto& [kind, rule] : kKinds) {
    Machine machine("gpu:1");
    machine.survey().remarks = {{kind, "topo.txt:7", "row GPU3 ends early"}};
    cases.push_back(fires(rule, "a remark of its kind", machine, "row GPU3 ends early"));
    machine.survey().remarks[0].kind = kind == RemarkKind::Incomplete ? RemarkKind::GaveUp : RemarkKind::Incomplete;
    cases.push_back(silent(rule, "a remark of another kind", machine));
  }
}

void add_dumps(std::vector<Case>& cases) {
  Machine dump("packages:2 gpu:4");
  for (int i = 0; i < 4; ++i) dump.node("gpu" + std::to_string(i)).device = "10de:1db4";
  cases.push_back(silent("hwloc.no_gpu_backend", "another source", dump));
  dump.survey().source = "hwloc XML";
  cases.push_back(fires("hwloc.no_gpu_backend", "PCI ids alone", dump, "4 GPUs"));
  dump.node("gpu0").names = {"card1", "nvml0"};
  cases.push_back(silent("hwloc.no_gpu_backend", "with NVML", dump));

  Machine nics("packages:2 gpu:8 nic:96 efa100");
  cases.push_back(silent("ncclxml.too_many_nodes", "not read from NCCL XML", nics));
  nics.survey().nccl_version = 1;
  cases.push_back(fires("ncclxml.too_many_nodes", "96 NICs", nics, "the loader holds 256"));
  Machine few("dgx-h100");
  few.survey().nccl_version = 1;
  cases.push_back(silent("ncclxml.too_many_nodes", "8 GPUs and 8 NICs", few));
}

void add_measurements(std::vector<Case>& cases) {
  Machine machine("packages:1 gpu:4 gpus_per_switch:2 pcie:4");
  const auto copy = [&](const char* from, const char* to, double gbs) {
    machine.survey().measurements.push_back({machine.node(from).id, machine.node(to).id, "gpu", false, gbs, {}});
  };
  cases.push_back(silent("perf.below_nominal", "not measured", machine));
  cases.push_back(silent("perf.pix_slower_than_phb", "not measured", machine));
  copy("gpu0", "gpu1", 25);
  copy("gpu0", "gpu2", 22);
  cases.push_back(silent("perf.pix_slower_than_phb", "nearer is faster", machine));
  cases.push_back(silent("perf.below_nominal", "as usual", machine));
  machine.survey().measurements[0].bandwidth_gbs = 11;
  cases.push_back(fires("perf.pix_slower_than_phb", "nearer is slower", machine, "11.0 GB/s below one switch"));
  cases.push_back(fires("perf.below_nominal", "a third of the rate", machine, "35% of 31.5"));
}

Case beside(Case one, Survey reference) {
  one.reference = std::move(reference);
  return one;
}

// What a source cannot show is not missing.
void add_losses(std::vector<Case>& cases) {
  const Machine whole("dgx-h100");
  Machine unlinked("packages:2 cores:56 gpu:8 gpus_per_switch:1 nic:8 ndr");
  cases.push_back(beside(fires("expect.missing", "all NVLinks are lost", unlinked, "NVLinks: 0, expected"), whole));
  unlinked.survey().source = "hwloc XML 2";
  cases.push_back(beside(silent("expect.missing", "a source that tells no NVLinks", unlinked), whole));
  Machine alone("packages:2 cores:56 gpu:8 nvswitch:450 gpus_per_switch:1");
  cases.push_back(beside(fires("expect.missing", "all NICs are lost", alone, "fabric NICs: 0, expected 8"), whole));
  alone.survey().source = kRocmSmi;
  cases.push_back(beside(silent("expect.missing", "a source that tells no NICs", alone), whole));
  Machine bare("packages:2 cores:56");
  cases.push_back(beside(fires("expect.missing", "all GPUs are lost", bare, "GPUs: 0, expected 8"), whole));
  bare.survey().source = "hwloc XML 2";
  cases.push_back(beside(silent("expect.missing", "hwloc XML without devices", bare), whole));
  bare.survey().source = "NCCL or RCCL topology XML";
  bare.survey().nccl_version = 1;
  bare.survey().remarks = {{RemarkKind::Incomplete, "topo.xml:2", "<pci>: 8 elements " + std::string(kDevicesUnknown)}};
  cases.push_back(beside(silent("expect.missing", "devices of unknown kind", bare), whole));
}

void add_expectations(std::vector<Case>& cases) {
  Machine whole("dgx-h100");
  Machine less("packages:2 cores:56 gpu:7 nvswitch:450 gpus_per_switch:1 nic:8 ndr");
  for (int i = 0; i < 7; ++i) less.node("gpu" + std::to_string(i)).device = "10de:2330";
  cases.push_back(beside(fires("expect.missing", "7 of 8 GPUs", less, "7, expected 8"), whole));
  cases.push_back(silent("expect.missing", "nothing is expected", less));
  cases.push_back(beside(silent("expect.missing", "the same machine", whole), whole));
  cases.push_back(beside(silent("expect.missing", "more than expected", whole), less));
  cases.push_back(beside(silent("expect.different", "the same machine", whole), whole));
  Machine slower("dgx-h100 hdr");
  cases.push_back(
      beside(fires("expect.different", "slower NICs", slower, "8 of 8 slower: 25 GB/s, expected 50"), whole));
  Machine other("dgx-h100");
  for (int i = 0; i < 8; ++i) other.node("gpu" + std::to_string(i)).device = "10de:2335";
  cases.push_back(beside(fires("expect.different", "other GPUs", other, "8 of 10de:2335, expected 10de:2330"), whole));
  Case site = fires("expect.missing", "the site expects more NICs", whole, "8, expected 12");
  site.site.expected.nics = 12;
  cases.push_back(site);
  Case rate = fires("expect.different", "the site expects faster NICs", whole, "50 GB/s, expected 100");
  rate.site.expected.nic_gbs = 100;
  cases.push_back(rate);
  Machine ports("packages:1 nic:1 ndr");
  ports.node("nic0").network_gbs = 100;
  ports.port("nic0").rate_gbs = 50;
  ports.device("nic0").ports.push_back(ports.port("nic0"));
  ports.device("nic0").ports[1].number = 2;
  rate = silent("expect.different", "each port is as fast as the site expects", ports);
  rate.site.expected.nic_gbs = 50;
  cases.push_back(rate);
  ports.device("nic0").ports[1].rate_gbs = 25;
  rate = fires("expect.different", "both ports together are fast, one is slow", ports, "25 GB/s, expected 50");
  rate.site.expected.nic_gbs = 50;
  cases.push_back(rate);
}

}  // namespace

void add_source_cases(std::vector<Case>& cases) {
  add_remarks(cases);
  add_dumps(cases);
  add_measurements(cases);
  add_losses(cases);
  add_expectations(cases);
}

}  // namespace weft::topology::audit
