// The ip commands that make the namespaces, and wait until the link is up.
#include "tests/support/two_hosts.hpp"

#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

constexpr auto kDeadline = std::chrono::seconds(10);

// Empty, or what failed.
std::string try_all(const std::vector<std::vector<std::string>>& commands) {
  for (const auto& command : commands) {
    const auto outcome = run(command, {}, kDeadline);
    if (outcome.succeeded()) continue;
    std::string text;
    for (const auto& word : command) text += word + " ";
    return text + "failed: " + (outcome.exit_code == 127 ? "no such program" : outcome.output);
  }
  return "";
}

// A file of the interface, as its host sees it.
std::string interface_file(const std::string& host, const std::string& interface, const std::string& name) {
  const auto file = "/sys/class/net/" + interface + "/" + name;
  return run({"ip", "netns", "exec", host, "cat", file}, {}, kDeadline).output;
}

// The kernel reports a link as running some time after it was set up, and who looks earlier does not see it.
bool wait_until_running(const std::string& host, const std::string& interface) {
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  while (interface_file(host, interface, "operstate") != "up\n") {
    if (std::chrono::steady_clock::now() > until) return false;
  }
  return true;
}

}  // namespace

std::optional<TwoHosts> TwoHosts::make(std::string& why_not) {
  TwoHosts hosts;
  const auto base = "weft-test-" + std::to_string(getpid());
  hosts.names_ = {base + "-a", base + "-b"};
  const auto& [a, b] = std::pair(hosts.names_[0], hosts.names_[1]);
  std::vector<std::vector<std::string>> commands = {
      {"ip", "netns", "add", a},
      {"ip", "netns", "add", b},
  };
  const std::string interfaces[] = {kInterface, kSecondInterface};
  for (const auto& link : interfaces)
    commands.push_back({"ip", "link", "add", link, "netns", a, "type", "veth", "peer", "name", link, "netns", b});
  for (int host = 0; host < 2; ++host) {
    const auto& name = hosts.names_[static_cast<std::size_t>(host)];
    commands.push_back({"ip", "-n", name, "link", "set", "lo", "up"});
    for (int link = 0; link < 2; ++link) {
      commands.push_back({"ip", "-n", name, "addr", "add", address(host, link) + "/24", "dev", interfaces[link]});
      commands.push_back({"ip", "-n", name, "link", "set", interfaces[link], "up"});
    }
    auto probe = hosts.on(host);
    probe.emplace_back("true");
    commands.push_back(probe);
  }
  why_not = try_all(commands);
  if (!why_not.empty()) return std::nullopt;
  for (const auto& name : hosts.names_) {
    for (const auto& link : interfaces)
      if (!wait_until_running(name, link)) throw std::runtime_error(name + "'s " + link + " does not come up");
  }
  return hosts;
}

TwoHosts::TwoHosts(TwoHosts&& other) noexcept : names_(std::exchange(other.names_, {})) {}

TwoHosts::~TwoHosts() {
  for (const auto& name : names_) run({"ip", "netns", "del", name}, {}, kDeadline);
}

std::vector<std::string> TwoHosts::on(int host) const {
  const auto& name = names_[static_cast<std::size_t>(host)];
  return {"ip", "netns", "exec", name, "unshare", "--uts", "--ipc", "sh", "-c", "hostname " + name + " && exec \"$@\"",
          "sh"};
}

std::uint64_t TwoHosts::bytes_sent(int host, const std::string& interface) const {
  const auto text = interface_file(names_[static_cast<std::size_t>(host)], interface, "statistics/tx_bytes");
  return std::stoull(text);
}

}  // namespace weft::test
