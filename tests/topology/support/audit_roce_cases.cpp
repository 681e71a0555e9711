// Cases of the rules about RoCE, EFA and the counters of ports.
#include "audit_cases.hpp"

namespace weft::topology::audit {
namespace {

constexpr const char* kLinkLocal = "fe80:0000:0000:0000:0e42:a1ff:fe00:0001";
constexpr const char* kIpv4 = "0000:0000:0000:0000:0000:ffff:0a00:0004";

Machine roce() {
  Machine machine("packages:1 gpu:1 nic:1 ndr");
  machine.port("nic0").gids = {{0, kLinkLocal, "IB/RoCE v1", "eth1"},
                               {1, kLinkLocal, "RoCE v2", "eth1"},
                               {2, kIpv4, "IB/RoCE v1", "eth1"},
                               {3, kIpv4, "RoCE v2", "eth1"}};
  return machine;
}

void add_gids(std::vector<Case>& cases) {
  Machine machine = roce();
  cases.push_back(silent("roce.gid_index", "the variable is not set", machine));
  machine.set("NCCL_IB_GID_INDEX", "1");
  cases.push_back(fires("roce.gid_index", "link-local", machine, "NCCL_IB_GID_INDEX=3"));
  Machine right = roce();
  right.set("NCCL_IB_GID_INDEX", "3");
  cases.push_back(silent("roce.gid_index", "IPv4, RoCE v2", right));
  Machine first = roce();
  first.set("NCCL_IB_GID_INDEX", "2");
  cases.push_back(fires("roce.gid_index", "RoCE v1", first, "IB/RoCE v1"));
  Machine beyond = roce();
  beyond.set("NCCL_IB_GID_INDEX", "9");
  cases.push_back(fires("roce.gid_index", "beyond the table", beyond, "there is no entry 9"));
  cases.push_back(silent("roce.no_ipv4_gid", "an IPv4 address is there", roce()));
  Machine six = roce();
  six.port("nic0").gids.resize(2);
  cases.push_back(fires("roce.no_ipv4_gid", "IPv6 only", six, "2 entries are IPv6 only"));
  six.port("nic0").link_layer = "InfiniBand";
  cases.push_back(silent("roce.no_ipv4_gid", "InfiniBand", six));
}

void add_mtu(std::vector<Case>& cases) {
  Machine machine = roce();
  machine.port("nic0").active_mtu = 1024;
  machine.interface("eth1", "physical", "10.0.0.4").mtu = 1500;
  cases.push_back(fires("roce.mtu", "1024 of 4096", machine, "eth1 has 1500", Severity::Warning));
  machine.port("nic0").active_mtu = 4096;
  cases.push_back(silent("roce.mtu", "4096", machine));
  machine.port("nic0").active_mtu = 1024;
  machine.port("nic0").rate_gbs = 3.125;
  cases.push_back(silent("roce.mtu", "25 Gbit/s", machine));
}

void add_counters(std::vector<Case>& cases) {
  const auto rates = [](Case one, Machine before) {
    one.before = before;
    one.seconds = 10;
    return one;
  };
  Machine before = roce();
  before.port("nic0").errors = {{"symbol_error", 5'000}, {"out_of_sequence", 70'000}};
  Machine after = before;
  cases.push_back(rates(silent("roce.lossy", "a total since boot", after), before));
  cases.push_back(rates(silent("net.errors_rising", "a total since boot", after), before));
  after.port("nic0").errors = {{"symbol_error", 5'100}, {"out_of_sequence", 71'000}};
  cases.push_back(rates(fires("roce.lossy", "packets out of sequence", after, "out_of_sequence rose by 1000"), before));
  cases.push_back(rates(fires("net.errors_rising", "symbol errors", after, "symbol_error rose by 100"), before));
  after.port("nic0").link_layer = "InfiniBand";
  cases.push_back(rates(silent("roce.lossy", "InfiniBand", after), before));
}

void add_efa(std::vector<Case>& cases) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  for (int i = 0; i < 4; ++i) machine.node("nic" + std::to_string(i)).device = "1d0f:efa1";
  cases.push_back(silent("efa.no_devices", "/dev/infiniband was not looked at", machine));
  machine.host().container.infiniband_devices.emplace();
  cases.push_back(fires("efa.no_devices", "no device files", machine, "4 EFA devices on the PCI bus"));
  machine.host().container.infiniband_devices = std::vector<std::string>{"uverbs0", "uverbs1"};
  cases.push_back(silent("efa.no_devices", "with device files", machine));
  cases.push_back(silent("efa.gdr_unavailable", "modules and environment are not known", machine));
  Machine off = machine;
  off.set("FI_EFA_USE_DEVICE_RDMA", "0");
  cases.push_back(fires("efa.gdr_unavailable", "turned off", off, "FI_EFA_USE_DEVICE_RDMA=0", Severity::Error));
  machine.modules({"nvidia", "efa"});
  machine.host().kernel.nvidia_open = false;
  machine.host().kernel.nvidia_driver = "535.104.05";
  cases.push_back(fires("efa.gdr_unavailable", "no module for it", machine, "535.104.05", Severity::Warning));
  machine.modules({"nvidia", "efa", "efa_nv_peermem"});
  cases.push_back(silent("efa.gdr_unavailable", "with efa_nv_peermem", machine));
  off.host().environment->clear();
  cases.push_back(silent("efa.gdr_unavailable", "not turned off", off));
}

}  // namespace

void add_roce_cases(std::vector<Case>& cases) {
  add_gids(cases);
  add_mtu(cases);
  add_counters(cases);
  add_efa(cases);
}

}  // namespace weft::topology::audit
