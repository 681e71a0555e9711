// RDMA devices and their ports: state, rate, GIDs with types and interfaces, error counters, GUIDs, firmware.
#include <fmt/format.h>

#include <algorithm>

#include "topology/facts/pci_place.hpp"
#include "topology/facts/readers.hpp"
#include "topology/probe/sysfs_network.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxVerbsDevices = 256;
constexpr std::size_t kMaxPorts = 16;  // of one device
constexpr int kMaxGids = 256;          // of one port: what mlx5 has
constexpr int kMaxGap = 32;            // drivers fill the lowest places: that many empty ones in turn end the table
constexpr std::string_view kNoGid = "0000:0000:0000:0000:0000:0000:0000:0000";

// Of the many counters those that grow when something is wrong.
constexpr std::string_view kCounters[] = {"symbol_error",
                                          "link_error_recovery",
                                          "link_downed",
                                          "port_rcv_errors",
                                          "port_rcv_remote_physical_errors",
                                          "port_rcv_constraint_errors",
                                          "port_xmit_constraint_errors",
                                          "port_xmit_discards",
                                          "local_link_integrity_errors",
                                          "excessive_buffer_overrun_errors"};
constexpr std::string_view kHardwareCounters[] = {"out_of_sequence",       "out_of_buffer",       "packet_seq_err",
                                                  "local_ack_timeout_err", "implied_nak_seq_err", "rnr_nak_retry_err",
                                                  "rx_icrc_encapsulated",  "roce_adp_retrans_to", "rx_drops",
                                                  "rx_write_discards",     "rx_read_discards"};

template <typename Names>
void add_counters(const Tree& tree, const std::string& folder, const Names& names, std::vector<Counter>& counters) {
  if (!tree.exists(folder)) return;
  for (const std::string_view name : names) {
    const std::optional<std::string> text = tree.attribute(folder + std::string(name));
    const std::optional<std::uint64_t> value = text ? parse_whole<std::uint64_t>(*text) : std::nullopt;
    if (value) counters.push_back({std::string(name), *value});
  }
}

std::vector<GidFacts> read_gids(const Tree& tree, const std::string& port) {
  std::vector<GidFacts> gids;
  int empty = 0;
  for (int index = 0; index < kMaxGids && empty < kMaxGap; ++index) {
    const std::optional<std::string> address = tree.attribute(fmt::format("{}gids/{}", port, index));
    if (!address) break;
    empty = *address == kNoGid ? empty + 1 : 0;
    if (*address == kNoGid) continue;
    gids.push_back({index, *address, tree.attribute(fmt::format("{}gid_attrs/types/{}", port, index)),
                    tree.attribute(fmt::format("{}gid_attrs/ndevs/{}", port, index))});
  }
  return gids;
}

std::optional<std::string> state_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return std::string(after_number(*text));
}

PortFacts read_port(const Tree& tree, const std::string& device, int number) {
  const std::string folder = fmt::format("{}ports/{}/", device, number);
  PortFacts port;
  port.number = number;
  port.state = state_of(tree.attribute(folder + "state"));
  port.physical_state = state_of(tree.attribute(folder + "phys_state"));
  port.link_layer = tree.attribute(folder + "link_layer");
  if (const std::optional<std::string> rate = tree.attribute(folder + "rate")) port.rate_gbs = parse_port_rate(*rate);
  const std::optional<std::string> lid_text = tree.attribute(folder + "lid");
  const std::optional<unsigned long long> lid = lid_text ? parse_hex(*lid_text) : std::nullopt;
  if (lid && *lid <= 0xffff) port.lid = static_cast<int>(*lid);
  port.gids = read_gids(tree, folder);
  add_counters(tree, folder + "counters/", kCounters, port.errors);
  add_counters(tree, folder + "hw_counters/", kHardwareCounters, port.errors);
  return port;
}

void read_verbs_device(const Tree& tree, const std::string& name, DeviceFacts& facts) {
  const std::string folder = "sys/class/infiniband/" + name + "/";
  facts.guid = tree.attribute(folder + "node_guid");
  facts.system_image_guid = tree.attribute(folder + "sys_image_guid");
  if (const std::optional<std::string> firmware = tree.attribute(folder + "fw_ver")) facts.firmware = firmware;
  for (const std::string& port : tree.list(folder + "ports").value_or(std::vector<std::string>())) {
    const std::optional<int> number = parse_whole<int>(port);
    if (facts.ports.size() == kMaxPorts || !number || *number < 0 || *number > 255) continue;
    facts.ports.push_back(read_port(tree, folder, *number));
  }
}

}  // namespace

void read_verbs(const FactsSource& source, std::vector<DeviceFacts>& devices) {
  const Tree& tree = source.tree;
  std::vector<std::string> names = tree.list("sys/class/infiniband").value_or(std::vector<std::string>());
  names.resize(std::min(names.size(), kMaxVerbsDevices));
  for (const std::string& name : names) {
    const std::optional<std::string> bus_id = pci_behind(tree, "sys/class/infiniband/" + name);
    if (!bus_id) continue;
    const auto found =
        std::find_if(devices.begin(), devices.end(), [&](const DeviceFacts& one) { return one.bus_id == bus_id; });
    if (found == devices.end()) continue;
    if (!found->verbs) found->verbs = name;
    read_verbs_device(tree, name, *found);
  }
}

}  // namespace weft::topology
