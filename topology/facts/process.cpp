// Process: limits, capabilities, where it may run and where its memory lies, as /proc/self tells.
#include <map>

#include "topology/facts/parsers.hpp"
#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr int kIpcLock = 14;  // CAP_IPC_LOCK
constexpr std::uint64_t kPageKib = 4;
constexpr int kMaxNuma = 4096;

// "Max locked memory         8388608              unlimited            bytes": the first number is the soft limit.
std::optional<std::uint64_t> soft_limit(std::string_view limits, std::string_view name) {
  const std::optional<std::string_view> rest = value_of(limits, name);
  if (!rest) return std::nullopt;
  const std::vector<std::string_view> words = words_of(*rest);
  if (words.empty()) return std::nullopt;
  if (words.front() == "unlimited") return kUnlimited;
  return parse_whole<std::uint64_t>(words.front());
}

std::optional<std::string> list_in(std::string_view status, std::string_view key) {
  const std::optional<std::string_view> list = value_of(status, key);
  if (!list || list->empty()) return std::nullopt;
  return std::string(*list);
}

std::optional<bool> may_lock_all(std::string_view status) {
  const std::optional<std::string_view> text = value_of(status, "CapEff:");
  const std::optional<unsigned long long> mask = text ? parse_hex(*text) : std::nullopt;
  if (!mask) return std::nullopt;
  return (*mask >> kIpcLock & 1) != 0;
}

// One mapping of numa_maps: "7f12... default anon=512 dirty=512 N0=500 N1=12 kernelpagesize_kB=4". Files are left out.
void count_pages(std::string_view line, std::map<int, std::uint64_t>& pages) {
  std::map<int, std::uint64_t> here;
  bool anonymous = false;
  std::uint64_t page_kib = kPageKib;
  for (const std::string_view word : words_of(line)) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    if (key == "file") return;
    if (key == "anon") anonymous = true;
    if (key == "kernelpagesize_kB") page_kib = parse_whole<std::uint64_t>(value).value_or(kPageKib);
    if (key.size() < 2 || key[0] != 'N') continue;
    const std::optional<int> numa = parse_whole<int>(key.substr(1));
    const std::optional<std::uint64_t> count = parse_whole<std::uint64_t>(value);
    if (numa && *numa >= 0 && *numa < kMaxNuma && count) here[*numa] += *count;
  }
  if (!anonymous) return;
  for (const auto& [numa, count] : here) pages[numa] += count * (page_kib / kPageKib);
}

}  // namespace

void parse_limits(std::string_view limits, ProcessFacts& process) {
  process.memlock_bytes = soft_limit(limits, "Max locked memory");
  process.open_files = soft_limit(limits, "Max open files");
}

void parse_status(std::string_view status, ProcessFacts& process) {
  process.may_lock_all = may_lock_all(status);
  process.allowed_cpus = list_in(status, "Cpus_allowed_list:");
  process.allowed_memories = list_in(status, "Mems_allowed_list:");
}

void parse_numa_maps(std::string_view mappings, ProcessFacts& process) {
  std::map<int, std::uint64_t> pages;
  for (const std::string_view line : lines_of(mappings)) count_pages(line, pages);
  for (const auto& [numa, count] : pages) process.resident.push_back({numa, count});
}

void read_process(const FactsSource& source, ProcessFacts& process) {
  const Tree& tree = source.tree;
  if (const std::optional<std::string> limits = tree.text("proc/self/limits")) parse_limits(*limits, process);
  if (const std::optional<std::string> status = tree.text("proc/self/status")) parse_status(*status, process);
  if (const std::optional<std::string> mappings = tree.text("proc/self/numa_maps")) parse_numa_maps(*mappings, process);
}

}  // namespace weft::topology
