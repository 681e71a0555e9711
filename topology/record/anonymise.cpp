// Words are judged by their form. Zeros say "none" and stay; so do addresses that mean the same everywhere.
#include "topology/record/anonymise.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <random>
#include <vector>

#include "base/parse.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kHostStandIn = "host";
constexpr std::size_t kGuidGroups = 4;
constexpr std::size_t kGidGroups = 8;
constexpr std::size_t kMacGroups = 6;
constexpr std::size_t kMacDigits = 2 * kMacGroups;
constexpr std::size_t kLongHex = 32;  // an identifier of a container
constexpr std::size_t kBusIdBytes = 12;

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '-' || c == '.'; }

bool all_hex(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_hex); }
bool all_zero(std::string_view text) { return text.find_first_not_of("0:-.") == std::string_view::npos; }

bool has_groups(std::string_view word, char between, const std::vector<std::size_t>& lengths) {
  const std::vector<std::string_view> parts = base::split(word, between);
  return parts.size() == lengths.size() &&
         std::equal(parts.begin(), parts.end(), lengths.begin(),
                    [](std::string_view part, std::size_t length) { return part.size() == length && all_hex(part); });
}

bool is_mac(std::string_view word, char between = ':') {
  const std::vector<std::string_view> parts = base::split(word, between);
  return parts.size() >= kMacGroups && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return part.size() == 2 && all_hex(part);
         });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// All eight groups of an address in any form; nothing for other words. "::" and "::1" mean the same everywhere.
std::optional<std::string> long_ipv6(std::string_view word) {
  in6_addr address;
  if (::inet_pton(AF_INET6, std::string(word).c_str(), &address) != 1) return std::nullopt;
  if (IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address)) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < sizeof address.s6_addr; i += 2)
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", address.s6_addr[i], address.s6_addr[i + 1]);
  return text;
}

std::string short_ipv6(const std::string& long_form) {
  in6_addr address;
  char text[INET6_ADDRSTRLEN] = "";
  if (::inet_pton(AF_INET6, long_form.c_str(), &address) == 1) ::inet_ntop(AF_INET6, &address, text, sizeof text);
  return text;
}

// "node17" of "node17.cluster.example"; an address has none.
std::string without_domain(const std::string& host) { return parse_ipv4(host) ? host : host.substr(0, host.find('.')); }

bool is_serial_file(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return name == "unique_id" || name.find("serial") != std::string_view::npos || name == "node_desc";
}

bool looks_like_place(std::string_view value) {
  if (value.find('/') != std::string_view::npos || value.find('@') != std::string_view::npos) return true;
  return std::count(value.begin(), value.end(), '.') >= 2 || std::count(value.begin(), value.end(), ':') >= 3;
}

}  // namespace

Anonymiser::Anonymiser(const std::string& host)
    : host_(lower(without_domain(host))), key_(std::random_device()() & 0xffffff) {}

std::string Anonymiser::numbered(std::string_view original, std::string_view kind, bool (*counts)(char)) {
  if (all_zero(original)) return std::string(original);
  std::string plain(kind);
  for (char c : original)
    if (counts(c)) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const int number = known_.try_emplace(plain, static_cast<int>(known_.size()) + 1).first->second;
  std::string text(original);
  std::string left = fmt::format("{:x}", number);
  for (auto at = text.rbegin(); at != text.rend(); ++at) {
    if (!counts(*at)) continue;
    *at = left.empty() ? '0' : left.back();
    if (!left.empty()) left.pop_back();
  }
  return text;
}

std::string Anonymiser::digits(std::string_view original, std::string_view kind) {
  return numbered(original, kind, is_hex);
}

// Within 10.0.0.0/8, so that addresses of one network stay in one. What means the same everywhere stays.
std::uint32_t Anonymiser::ipv4(std::uint32_t address) const {
  const std::uint32_t first = address >> 24;
  if (first == 0 || first == 127 || first >= 224 || (address >> 16) == 0xa9fe) return address;
  return 10U << 24 | ((address ^ key_) & 0xffffff);
}

std::string Anonymiser::word(std::string_view word) {
  if (all_zero(word) || is_bus_id(word)) return std::string(word);
  if (std::optional<std::string> changed = identifier(word)) return *changed;
  if (word.size() > kBusIdBytes && is_bus_id(word.substr(word.size() - kBusIdBytes)))
    return this->word(word.substr(0, word.size() - kBusIdBytes)) + std::string(word.substr(word.size() - kBusIdBytes));
  if (const std::optional<std::uint32_t> address = parse_ipv4(word)) return ipv4_text(ipv4(*address));
  if (word.find(':') != std::string_view::npos) return parts_between_colons(word);
  return without_host(without_mac(word));
}

// Of what has a form of its own, whatever it names.
std::optional<std::string> Anonymiser::identifier(std::string_view word) {
  if (is_mac(word)) return digits(word, "mac ");
  if (is_mac(word, '-')) {  // with the kind of network before it, as PXELINUX has it
    const std::size_t kind = base::split(word, '-').size() == kMacGroups + 1 ? 3 : 0;
    return std::string(word.substr(0, kind)) + digits(word.substr(kind), "mac ");
  }
  if (has_groups(word, ':', std::vector<std::size_t>(kGuidGroups, 4))) return digits(word, "guid ");
  if (has_groups(word, ':', std::vector<std::size_t>(kGidGroups, 4))) return gid(word);
  if (const std::optional<std::string> address = long_ipv6(word)) return short_ipv6(gid(*address));
  if (has_groups(word, '-', {8, 4, 4, 4, 12})) return digits(word, "uuid ");
  if (word.starts_with("GPU-") && has_groups(word.substr(4), '-', {8, 4, 4, 4, 12}))
    return "GPU-" + digits(word.substr(4), "uuid ");
  if (word.size() >= kLongHex && all_hex(word)) return digits(word, "id ");
  return std::nullopt;
}

// The prefix of the subnet, then a GUID, or an address of IPv4.
std::string Anonymiser::gid(std::string_view word) {
  constexpr std::size_t kPrefix = kGidGroups / 2 * 5;
  constexpr std::string_view kLoopback = "0000:0000:0000:0001";
  const std::string prefix(word.substr(0, kPrefix));
  const std::string_view behind = word.substr(kPrefix);
  if (all_zero(prefix) && behind == kLoopback) return std::string(word);
  if (all_zero(prefix) && (behind.starts_with("0000:ffff:") || behind.starts_with("0000:FFFF:"))) {
    const std::string address = fmt::format("{}{}", behind.substr(10, 4), behind.substr(15, 4));
    const std::uint32_t mapped = ipv4(static_cast<std::uint32_t>(parse_hex(address).value_or(0)));
    return fmt::format("{}0000:ffff:{:04x}:{:04x}", prefix, mapped >> 16, mapped & 0xffff);
  }
  const bool same_everywhere = lower(prefix).starts_with("fe80:") || lower(prefix).starts_with("ff");
  return (same_everywhere ? prefix : digits(prefix.substr(0, kPrefix - 1), "net ") + ":") + digits(behind, "guid ");
}

// Names that are made of an address: "enx001122334455", "wlx...", "ibx..."; and of an identifier: "br-1a2b3c4d5e6f".
std::string Anonymiser::without_mac(std::string_view word) {
  constexpr std::size_t kKind = 3;  // letters before it
  if (word.size() < kKind + kMacDigits) return std::string(word);
  const std::string_view number = word.substr(kKind, kMacDigits);
  const std::string_view behind = word.substr(kKind + kMacDigits);
  const bool is_name = word[2] == 'x' || word.starts_with("br-");
  if (!is_name || !all_hex(number) || (!behind.empty() && is_alphanumeric(behind.front()))) return std::string(word);
  return fmt::format("{}{}{}", word.substr(0, kKind), digits(number, "mac "), behind);
}

// Wherever it is a part of its own: "node17-ib0", "ib0.node17". A domain behind it goes, too; a number stays.
std::string Anonymiser::without_host(std::string_view word) const {
  if (host_.empty()) return std::string(word);
  const std::string low = lower(word);
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = low.find(host_); at != std::string::npos; at = low.find(host_, at + 1)) {
    const std::size_t end = at + host_.size();
    if ((at > 0 && is_alphanumeric(low[at - 1])) || (end < low.size() && is_alphanumeric(low[end])) || at < copied)
      continue;
    result += word.substr(copied, at - copied);
    result += kHostStandIn;
    copied = end;
  }
  if (copied == 0) return std::string(word);
  std::size_t domain = low.find('.', copied);
  while (domain != std::string::npos && domain + 1 < low.size() &&
         std::isdigit(static_cast<unsigned char>(low[domain + 1])) != 0)
    domain = low.find('.', domain + 1);
  return result + std::string(word.substr(copied, std::min(domain, word.size()) - copied));
}

// An address with a port, or the boot line's "10.1.2.3::10.1.2.1:255.255.255.0:node17:eth0".
std::string Anonymiser::parts_between_colons(std::string_view text) {
  std::string result;
  for (std::string_view part : base::split(text, ':')) {
    if (!result.empty() || part.data() != text.data()) result += ':';
    result += word(part);
  }
  return result;
}

std::string Anonymiser::text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), in_word);
    const std::string_view found = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    std::string_view core = found;
    const bool is_prefix = found.ends_with("::") && long_ipv6(found);  // "2001:db8::/32"
    while (!is_prefix && !core.empty() && (core.back() == '.' || core.back() == ':' || core.back() == '-'))
      core.remove_suffix(1);
    result += word(core);
    result += found.substr(core.size());
    text.remove_prefix(found.size());
    if (text.empty()) break;
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

std::string Anonymiser::serial(std::string_view text) {
  return fmt::format("{}\n", numbered(trim(text), "serial ", is_alphanumeric));
}

// proc/net/route: destination and gateway are the second and third word, the mask the eighth, as little-endian numbers.
std::string Anonymiser::route_table(std::string_view text) {
  std::string result;
  for (std::string_view line : lines_of(text)) {
    std::vector<std::string> words;
    for (std::string_view part : words_of(line)) words.emplace_back(part);
    if (words.size() >= 8) {
      const auto number = [&](std::size_t i) { return parse_whole<std::uint32_t>(words[i], 16); };
      const std::optional<std::uint32_t> mask = number(7);
      for (std::size_t i : {std::size_t{1}, std::size_t{2}}) {
        const std::optional<std::uint32_t> raw = number(i);
        if (!raw || !mask) continue;
        const std::uint32_t mapped = __builtin_bswap32(ipv4(__builtin_bswap32(*raw)));
        words[i] = fmt::format("{:08X}", i == 1 ? mapped & *mask : mapped);
      }
      words[0] = this->text(words[0]);
    }
    result += fmt::format("{}\n", fmt::join(words, "\t"));
  }
  return result;
}

// proc/net/if_inet6 and ipv6_route: words of 32 digits, the upper half a network.
std::string Anonymiser::ipv6_table(std::string_view text) {
  constexpr std::size_t kHalf = 16;
  constexpr std::string_view kLoopback = "00000000000000000000000000000001";
  std::string result;
  for (std::string_view line : lines_of(text)) {
    std::string mapped;
    for (std::string_view part : words_of(line)) {
      if (!mapped.empty()) mapped += ' ';
      const bool address = part.size() == 2 * kHalf && all_hex(part) && !all_zero(part) && part != kLoopback;
      if (!address)
        mapped += this->text(part);
      else if (part.starts_with("fe80") || part.starts_with("ff"))
        mapped += std::string(part.substr(0, kHalf)) + digits(part.substr(kHalf), "guid ");
      else
        mapped += digits(part.substr(0, kHalf), "net ") + digits(part.substr(kHalf), "guid ");
    }
    result += mapped + '\n';
  }
  return result;
}

std::string Anonymiser::environment(std::string_view content) {
  std::string result;
  for (std::string_view variable : base::split(content, '\0')) {
    const std::size_t equals = std::min(variable.find('='), variable.size());
    if (variable.empty() || looks_like_place(variable.substr(equals))) continue;
    result += text(variable);
    result += '\0';
  }
  return result;
}

// Folders and links are named as the texts name what is in them.
std::string Anonymiser::path(std::string_view path) {
  std::string result;
  for (std::string_view part : base::split(path, '/')) {
    if (part.data() != path.data()) result += '/';
    std::string_view name = part;
    for (std::string_view relation : {"upper_", "lower_"})
      if (part.starts_with(relation)) name.remove_prefix(relation.size());
    result += part.substr(0, part.size() - name.size());
    result += interfaces_.contains(name) ? text(name) : identifier(name).value_or(std::string(name));
  }
  return result;
}

void Anonymiser::paths(RecordEntries& entries) {
  for (const auto& [path, entry] : entries)
    for (std::string_view folder : {"sys/class/net/", "sys/class/infiniband/"})
      if (path.starts_with(folder))
        interfaces_.emplace(
            std::string_view(path).substr(folder.size(), path.find('/', folder.size()) - folder.size()));
  RecordEntries renamed;
  for (auto& [path, entry] : entries) {
    if (entry.kind == RecordEntry::Kind::Link) entry.content = this->path(entry.content);
    renamed.emplace(path.starts_with("sys/devices/system/") ? path : this->path(path), std::move(entry));
  }
  entries = std::move(renamed);
}

void Anonymiser::entries(RecordEntries& entries) {
  paths(entries);
  for (auto& [path, entry] : entries) {
    if (entry.kind != RecordEntry::Kind::File || path.ends_with("/config")) continue;
    if (path == "proc/sys/kernel/hostname")
      entry.content = std::string(kHostStandIn) + "\n";
    else if (path == "proc/self/environ")
      entry.content = environment(entry.content);
    else if (path.ends_with("/net/route"))
      entry.content = route_table(entry.content);
    else if (path.ends_with("/net/if_inet6") || path.ends_with("/net/ipv6_route"))
      entry.content = ipv6_table(entry.content);
    else if (is_serial_file(path))
      entry.content = serial(entry.content);
    else if (path.starts_with("sys/devices/system/") || path.ends_with("/local_cpus") || path == "proc/cpuinfo")
      continue;  // masks of CPUs are long words of digits
    else
      entry.content = text(entry.content);
  }
}

}  // namespace weft::topology
