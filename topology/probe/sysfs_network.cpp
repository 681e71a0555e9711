// State and rate of network ports as sysfs shows them.
#include "topology/probe/sysfs_network.hpp"

#include <charconv>

#include "topology/read_file.hpp"

namespace weft::topology {
namespace {

constexpr double kMaxGbits = 1e6;

}  // namespace

std::optional<double> parse_port_rate(std::string_view text) {
  double gbits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gbits);
  if (error != std::errc() || !(gbits > 0) || gbits > kMaxGbits) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (!unit.starts_with(" Gb/s")) return std::nullopt;
  return gbits / 8;
}

PortState read_verbs_ports(const std::string& root, const std::string& device) {
  PortState state;
  const std::string folder = root + "/sys/class/infiniband/" + device + "/ports/";
  for (const std::string& port : list_folder(folder)) {
    const std::optional<std::string> text = read_attribute(folder + port + "/state");
    if (!text) continue;
    const bool active = text->starts_with("4:");
    state.active = state.active.value_or(false) || active;
    if (!active) continue;
    const std::optional<std::string> rate_text = read_attribute(folder + port + "/rate");
    const std::optional<double> rate = rate_text ? parse_port_rate(*rate_text) : std::nullopt;
    if (rate) state.rate_gbs = state.rate_gbs.value_or(0) + *rate;
  }
  return state;
}

PortState read_net_device(const std::string& root, const std::string& name) {
  PortState state;
  const std::string folder = root + "/sys/class/net/" + name + "/";
  const std::optional<std::string> operation = read_attribute(folder + "operstate");
  if (operation == "up") state.active = true;
  if (operation == "down" || operation == "lowerlayerdown" || operation == "notpresent") state.active = false;
  const std::optional<long long> megabits = read_integer(folder + "speed");
  if (megabits && *megabits > 0 && *megabits <= static_cast<long long>(kMaxGbits * 1000) && state.active != false)
    state.rate_gbs = static_cast<double>(*megabits) / 8000;
  return state;
}

}  // namespace weft::topology
