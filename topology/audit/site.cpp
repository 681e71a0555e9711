// Reads the site file, and applies what it ignores.
#include "topology/audit/site.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/left_out.hpp"
#include "topology/node_names.hpp"
#include "topology/read_file.hpp"
#include "topology/text.hpp"

namespace weft::topology::audit {
namespace {

using base::JsonDocument;
using base::JsonObject;
using base::JsonValue;

constexpr int kSchema = 1;
constexpr int kMaxDevices = 1 << 14;
constexpr int kMaxLinks = 64;

// How many letters differ, at least: Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> known_ids() {
  std::vector<std::string_view> ids = {kOddNode, kSilentNode, kLeftOut};
  for (const Rule* rule : rules()) ids.push_back(rule->id);
  return ids;
}

// At most three ids that are like this one: by letters, or by what stands behind the dot.
std::vector<std::string_view> near_ids(std::string_view id) {
  constexpr std::size_t kMostNear = 3;
  constexpr std::size_t kMostLetters = 64;
  std::vector<std::pair<std::size_t, std::string_view>> near;
  if (id.size() > kMostLetters) return {};
  for (const std::string_view known : known_ids()) {
    const std::string_view own = known.substr(known.find('.') + 1);
    const std::size_t far = std::min(distance(id, known), distance(id, own));
    if (far <= std::max<std::size_t>(2, id.size() / 2)) near.emplace_back(far, known);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string_view> ids;
  for (const auto& [far, found] : near)
    if (ids.size() < kMostNear) ids.push_back(found);
  return ids;
}

Status read_percent(const JsonValue& value, double& percent) {
  double number = 0;
  WEFT_TRY(value.read(number));
  if (number < 0 || number > 100) return value.wrong("is not from 0 to 100");
  percent = number;
  return {};
}

Status read_rate(const JsonValue& value, double& rate) {
  double number = 0;
  WEFT_TRY(value.read(number));
  if (number < 0 || number > 1e12) return value.wrong("is not from 0 to 1e12");
  rate = number;
  return {};
}

Status read_thresholds(const JsonValue& value, Thresholds& thresholds) {
  const auto percent = [](double& to) { return [&to](const JsonValue& from) { return read_percent(from, to); }; };
  const auto rate = [](double& to) { return [&to](const JsonValue& from) { return read_rate(from, to); }; };
  JsonObject object(value);
  object.optional("shm_bytes", thresholds.shm_bytes);
  object.optional("memlock_bytes", thresholds.memlock_bytes);
  object.optional_by("remote_pages_percent", percent(thresholds.remote_pages_percent));
  object.optional_by("measured_percent", percent(thresholds.measured_percent));
  object.optional_by("correctable_per_hour", rate(thresholds.correctable_per_hour));
  object.optional_by("port_errors_per_hour", rate(thresholds.port_errors_per_hour));
  return object.finish();
}

bool is_device_id(std::string_view text) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  constexpr std::size_t kVendor = 4;
  if (text.size() != 2 * kVendor + 1 || text[kVendor] != ':') return false;
  return std::all_of(text.begin(), text.begin() + kVendor, hex) &&
         std::all_of(text.begin() + kVendor + 1, text.end(), hex);
}

Status read_links(const JsonValue& value, ExpectedLinks& links) {
  JsonObject object(value);
  object.required_by("device", [&](const JsonValue& device) {
    WEFT_TRY(device.read(links.device));
    return is_device_id(links.device) ? Status() : device.wrong("is not vendor:device, as 10de:2330");
  });
  object.required("nvlinks", links.nvlinks, 0, kMaxLinks);
  return object.finish();
}

template <typename... Limits>
auto into(std::optional<int>& target, int least, int most) {
  return [&target, least, most](const JsonValue& value) { return value.read(target.emplace(), least, most); };
}

Status read_expectations(const JsonValue& value, Expectations& expected) {
  JsonObject object(value);
  object.optional_by("gpus", into(expected.gpus, 0, kMaxDevices));
  object.optional_by("nics", into(expected.nics, 0, kMaxDevices));
  object.optional_by("numa_nodes", into(expected.numa_nodes, 0, kMaxDevices));
  object.optional_by("nic_gbs", [&](const JsonValue& rate) { return read_rate(rate, expected.nic_gbs.emplace()); });
  object.optional_by("nvlinks", [&](const JsonValue& list) {
    return list.read_list(kMaxIgnored,
                          [&](const JsonValue& one) { return read_links(one, expected.nvlinks.emplace_back()); });
  });
  return object.finish();
}

Status read_ignored(const JsonValue& value, std::vector<Ignored>& ignored) {
  std::string text;
  WEFT_TRY(value.read(text));
  const Result<Ignored> one = parse_ignored(text);
  if (!one) return value.wrong(fmt::format("is wrong: {}", one.error().message()));
  ignored.push_back(*one);
  return {};
}

}  // namespace

Result<Ignored> parse_ignored(std::string_view text) {
  constexpr std::size_t kShownBytes = 80;
  const std::size_t at = text.find('@');
  Ignored ignored{std::string(text.substr(0, at)),
                  at == std::string_view::npos ? "" : std::string(text.substr(at + 1))};
  if (at != std::string_view::npos && ignored.subject.empty())
    return Status(Code::InvalidArgument,
                  fmt::format("\"{}\" has no subject behind its @", as_plain_text(text.substr(0, kShownBytes))));
  if (find_rule(ignored.id) != nullptr) return ignored;
  if (ignored.id == kOddNode || ignored.id == kSilentNode || ignored.id == kLeftOut) return ignored;
  const std::vector<std::string_view> near = near_ids(ignored.id);
  return Status(Code::InvalidArgument,
                fmt::format("no rule has the id \"{}\"; {}", as_plain_text(text.substr(0, std::min(at, kShownBytes))),
                            near.empty() ? std::string("docs/audit.md lists them")
                                         : fmt::format("near are {}", fmt::join(near, ", "))));
}

bool is_ignored(const Site& site, std::string_view id, std::string_view subject) {
  const auto names = [&](std::string_view word) {
    constexpr std::string_view kBetween = " ,()";
    for (std::size_t at = subject.find_first_not_of(kBetween); at != std::string_view::npos;) {
      const std::size_t end = std::min(subject.find_first_of(kBetween, at), subject.size());
      if (subject.substr(at, end - at) == word) return true;
      at = subject.find_first_not_of(kBetween, end);
    }
    return false;
  };
  return std::any_of(site.ignored.begin(), site.ignored.end(), [&](const Ignored& one) {
    return one.id == id && (one.subject.empty() || one.subject == subject || names(one.subject));
  });
}

Result<Site> site_from_json(std::string_view what, std::string_view text) {
  if (text.size() > kMaxSiteBytes)
    return Status(Code::ResourceExhausted, fmt::format("{}: longer than {} bytes", what, kMaxSiteBytes));
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(what, text));
  Site site;
  int schema = 0;
  JsonObject object(document.root());
  object.required("schema", schema, kSchema, kSchema);
  object.optional_by("thresholds", [&](const JsonValue& value) { return read_thresholds(value, site.thresholds); });
  object.optional_by("expect", [&](const JsonValue& value) { return read_expectations(value, site.expected); });
  object.optional_by("ignore", [&](const JsonValue& value) {
    return value.read_list(kMaxIgnored, [&](const JsonValue& one) { return read_ignored(one, site.ignored); });
  });
  WEFT_TRY(object.finish());
  return site;
}

Result<Site> load_site(const std::string& path) {
  WEFT_TRY_ASSIGN(const std::string text, read_file(path, kMaxSiteBytes));
  return site_from_json(path, without_byte_order_mark(text));
}

}  // namespace weft::topology::audit
