// Cases of the rules about NICs, interfaces and the network between hosts.
#include "audit_cases.hpp"

namespace weft::topology::audit {
namespace {

// Four like NICs, one at each switch.
Machine four_nics() {
  Machine machine("packages:2 cores:4 gpu:4 gpus_per_switch:1 nic:4 ndr");
  for (int i = 0; i < 4; ++i) {
    Node& nic = machine.node("nic" + std::to_string(i));
    nic.device = "15b3:1021";
    nic.active = true;
    nic.bus_id = "0000:" + std::to_string(i + 1) + "0:00.0";
  }
  return machine;
}

void add_speeds(std::vector<Case>& cases) {
  Machine mixed = four_nics();
  mixed.node("nic3").network_gbs = 5;
  cases.push_back(fires("net.mixed_speed", "40 beside 400 Gbit/s", mixed, "NCCL_IB_HCA==nic0,nic1,nic2"));
  cases.push_back(fires("net.rate_below_cap", "slower than a NIC like it", mixed, "while a NIC like it has 400",
                        Severity::Warning));
  Machine chosen = mixed;
  chosen.set("NCCL_IB_HCA", "nic0");
  cases.push_back(silent("net.mixed_speed", "NICs are chosen", chosen));
  mixed.node("nic3").active = false;
  cases.push_back(silent("net.mixed_speed", "the slow port is down", mixed));
  cases.push_back(silent("net.rate_below_cap", "a port that is down prints a rate", mixed));
  Machine ports = four_nics();
  ports.node("nic0").network_gbs = 100;
  ports.node("nic0").active = true;
  ports.port("nic0");
  ports.device("nic0").ports.push_back(ports.port("nic0"));
  cases.push_back(silent("net.mixed_speed", "two ports of one card", ports));
  ports.device("nic0").ports[1].rate_gbs = 100;
  cases.push_back(fires("net.mixed_speed", "one port of two is faster", ports, "beside nic0 at 800 Gbit/s"));
  Machine slow = four_nics();
  for (int i = 0; i < 4; ++i) slow.node("nic" + std::to_string(i)).network_gbs = 25;
  cases.push_back(fires("net.rate_below_cap", "all at half of what the id can", slow, "200 of 400", Severity::Info));
  cases.push_back(silent("net.rate_below_cap", "full rate", four_nics()));

  Machine layers = four_nics();
  for (int i = 0; i < 4; ++i) layers.port("nic" + std::to_string(i)).link_layer = i == 3 ? "Ethernet" : "InfiniBand";
  cases.push_back(fires("net.mixed_link_layer", "RoCE beside InfiniBand", layers, "NCCL_IB_HCA==nic0,nic1,nic2"));
  layers.port("nic3").state = "DOWN";
  cases.push_back(silent("net.mixed_link_layer", "the Ethernet port is down", layers));
  layers.port("nic0").number = 1;
  layers.device("nic0").ports.push_back(layers.port("nic0"));
  layers.device("nic0").ports[1].number = 2;
  layers.device("nic0").ports[1].link_layer = "Ethernet";
  cases.push_back(fires("net.mixed_link_layer", "two ports of one card", layers, "NCCL_IB_HCA==nic0:1,nic1,nic2"));
  cases.push_back(fires("net.mixed_link_layer", "the port is named", layers, "nic0 port 2"));
}

void add_ports(std::vector<Case>& cases) {
  Machine odd = four_nics();
  odd.node("nic2").active = false;
  cases.push_back(fires("net.port_down", "named whole, if it is left out", odd, "NCCL_IB_HCA=^=nic2"));
  cases.push_back(fires("net.port_down", "one of four", odd, "3 of 3 others like it are up", Severity::Warning));
  Machine second = four_nics();
  second.node("nic1").active = false;
  second.node("nic1").bus_id = "0000:10:00.1";
  second.node("nic0").bus_id = "0000:10:00.0";
  second.port("nic1").state = "DOWN";
  second.port("nic1").physical_state = "Disabled";
  cases.push_back(fires("net.port_down", "the second port of a card", second, "DOWN, Disabled", Severity::Info));
  Machine none = four_nics();
  for (int i = 0; i < 4; ++i) none.node("nic" + std::to_string(i)).active = false;
  cases.push_back(silent("net.port_down", "no port like it is up", none));
  odd.device("nic2").physical_function = "0000:10:00.0";
  cases.push_back(silent("net.port_down", "a virtual function", odd));

  Machine shared = four_nics();
  shared.device("nic0").system_image_guid = "0011:2233:4455:6677";
  shared.device("nic2").system_image_guid = "0011:2233:4455:6677";
  cases.push_back(fires("net.shared_port", "socket direct", shared, "GUID 0011:2233:4455:6677", Severity::Info));
  Machine zeros = shared;
  for (const char* nic : {"nic0", "nic2"}) zeros.device(nic).system_image_guid = "0000:0000:0000:0000";
  cases.push_back(silent("net.shared_port", "a GUID of zeros", zeros));
  shared.node("nic2").bus_id = "0000:10:00.1";
  cases.push_back(silent("net.shared_port", "two ports at one place", shared));

  Machine efa("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  cases.push_back(silent("net.plugin_missing", "plugins were not looked for", efa));
  efa.host().network_plugins.emplace();
  cases.push_back(fires("net.plugin_missing", "EFA without a plugin", efa, "EFA needs libfabric"));
  efa.host().network_plugins->emplace_back("libnccl-net.so");
  cases.push_back(silent("net.plugin_missing", "with the plugin", efa));
  Machine infiniband = four_nics();
  infiniband.host().network_plugins.emplace();
  cases.push_back(silent("net.plugin_missing", "InfiniBand needs none", infiniband));
}

Machine pod() {
  Machine machine = four_nics();
  machine.interface("lo", "loopback", "127.0.0.1");
  machine.set("");
  return machine;
}

void add_interfaces(std::vector<Case>& cases) {
  Machine veth = pod();
  veth.interface("veth1a2b", "veth", "10.42.0.1");
  veth.interface("eth0", "physical", "10.0.0.4").default_route = true;
  cases.push_back(fires("net.bootstrap_iface", "a veth comes first", veth, "NCCL_SOCKET_IFNAME==eth0"));
  Machine named = veth;
  named.set("NCCL_SOCKET_IFNAME", "^lo,docker,veth");
  cases.push_back(silent("net.bootstrap_iface", "left out by a pattern", named));
  Machine none = veth;
  none.set("NCCL_SOCKET_IFNAME", "=eth9");
  cases.push_back(
      fires("net.bootstrap_iface", "the name of none", none, "is =eth9, which leaves none", Severity::Error));
  Machine without_addresses("packages:1 gpu:2");
  without_addresses.interface("eth0", "physical", "");
  without_addresses.set("NCCL_SOCKET_IFNAME", "eth9");
  cases.push_back(silent("net.bootstrap_iface", "addresses that are not told", without_addresses));
  Machine only_lo = pod();
  only_lo.set("NCCL_SOCKET_IFNAME", "^docker0");
  cases.push_back(fires("net.bootstrap_iface", "only lo is left", only_lo, "the loopback interface"));
  Machine in_pod = pod();
  in_pod.interface("eth0", "veth", "10.42.0.17").default_route = true;
  cases.push_back(silent("net.bootstrap_iface", "a pod's own pair, with the default route", in_pod));
  Machine ib = veth;
  ib.interface("ib0", "physical", "10.1.0.4");
  cases.push_back(silent("net.bootstrap_iface", "InfiniBand comes first", ib));

  Machine identity = pod();
  identity.interface("eth0", "physical", "10.0.0.4").default_route = true;
  identity.interface("pod-id-link0", "veth", "169.254.170.23");
  cases.push_back(fires("net.linklocal_iface", "the pod identity's", identity, "169.254.170.23"));
  identity.set("NCCL_SOCKET_IFNAME", "eth");
  cases.push_back(silent("net.linklocal_iface", "left out", identity));

  Machine bridges("packages:2 gpu:4");
  bridges.set("");
  bridges.interface("eth0", "physical", "10.0.0.4").default_route = true;
  bridges.interface("br-1", "bridge", "172.18.0.1");
  cases.push_back(silent("net.socket_ifaces", "one bridge", bridges));
  bridges.interface("cali12", "veth", "10.42.0.2");
  cases.push_back(fires("net.socket_ifaces", "two virtual interfaces", bridges, "br-1, cali12"));
  bridges.set("NCCL_SOCKET_IFNAME", "=eth0");
  cases.push_back(silent("net.socket_ifaces", "named exactly", bridges));
}

void add_clusters(std::vector<Case>& cases) {
  Machine twins("hosts:2 gpu:2 nic:2 ndr", 2);
  twins.interface("eth0", "physical", "10.0.0.4", 0).mtu = 9000;
  twins.interface("eth0", "physical", "10.0.0.4", 1).mtu = 9000;
  cases.push_back(fires("net.duplicate_address", "two hosts, one address", twins, "host0 on eth0, host1 on eth0"));
  twins.host(1).interfaces[0].addresses = {"10.0.0.5"};
  twins.interface("docker0", "bridge", "172.17.0.1", 0);
  twins.interface("docker0", "bridge", "172.17.0.1", 1);
  cases.push_back(silent("net.duplicate_address", "Docker's bridge is alike everywhere", twins));
  for (int host : {0, 1}) twins.host(host).interfaces[0].default_route = true;
  cases.push_back(silent("net.mtu_differs", "9000 on both", twins));
  twins.host(1).interfaces[0].mtu = 1500;
  cases.push_back(fires("net.mtu_differs", "1500 on one", twins, "MTU"));

  Machine named("hosts:3 gpu:2 nic:2 ndr", 3);
  for (int host = 0; host < 3; ++host)
    for (int nic : {0, 1}) {
      Node& node = named.node("host" + std::to_string(host) + "/nic" + std::to_string(nic));
      node.bus_id = nic == 0 ? "0000:10:00.0" : "0000:20:00.0";
    }
  cases.push_back(silent("net.names_differ", "alike on all", named));
  Node& first = named.node("host2/nic0");
  Node& second = named.node("host2/nic1");
  std::swap(first.bus_id, second.bus_id);
  cases.push_back(fires("net.names_differ", "swapped on the third", named, "host2: nic0"));

  Machine rails("hosts:2 gpu:2 gpus_per_switch:1 nic:2 ndr", 2);
  cases.push_back(silent("fabric.rail_only", "one switch joins all", rails));
  Node leaf;
  leaf.kind = NodeKind::NetworkSwitch;
  leaf.name = "rail1";
  leaf.host = -1;
  Graph& graph = rails.survey().graph;
  const int made = graph.add(leaf);
  for (Link& link : graph.links) {
    if (link.kind != LinkKind::Network) continue;
    int& to = graph.nodes[static_cast<std::size_t>(link.a)].kind == NodeKind::NetworkSwitch ? link.a : link.b;
    const int nic = to == link.a ? link.b : link.a;
    if (graph.nodes[static_cast<std::size_t>(nic)].name == "nic1") to = made;
  }
  cases.push_back(fires("fabric.rail_only", "a switch for each rail", rails, "nic0 reaches no nic1"));
  rails.set("NCCL_CROSS_NIC", "0");
  cases.push_back(silent("fabric.rail_only", "rails are not crossed", rails));
}

}  // namespace

void add_network_cases(std::vector<Case>& cases) {
  add_speeds(cases);
  add_ports(cases);
  add_interfaces(cases);
  add_clusters(cases);
}

}  // namespace weft::topology::audit
