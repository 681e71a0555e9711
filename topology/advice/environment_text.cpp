// Settings as lines for a shell, and as JSON.
#include <fmt/format.h>

#include <map>

#include "base/plural.hpp"
#include "topology/advice/environment.hpp"
#include "topology/node_names.hpp"

namespace weft::topology::advice {
namespace {

// On one line, in single quotes where a shell would see more than a word; zsh looks for a program behind "=".
std::string quoted(std::string_view foreign) {
  const std::string value = as_plain_text(foreign);
  const bool plain = !value.empty() && value.front() != '=' &&
                     value.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_=,.:/+-") == std::string::npos;
  if (plain) return value;
  std::string text = "'";
  for (char c : value) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string lines_of(const std::vector<Setting>& settings) {
  if (settings.empty()) return "# nothing needs to be set: the defaults fit what is known of this host\n";
  std::string text;
  for (const Setting& setting : settings) {
    text += fmt::format("# {}\n", as_plain_text(setting.reason));
    if (setting.present == setting.value)
      text += "# (it is set so already)\n";
    else if (setting.present)
      text += fmt::format("# (now it is {})\n", quoted(*setting.present));
    text += setting.value.empty() ? fmt::format("# export {}=FILE\n", setting.name)
                                  : fmt::format("export {}={}\n", setting.name, quoted(setting.value));
  }
  return text;
}

}  // namespace

std::string environment_text(const Survey& survey, Locality& locality) {
  std::map<std::string, std::size_t> position;
  std::vector<std::pair<std::string, std::vector<int>>> distinct;  // lines, and the hosts that need them
  int host = 0;
  for (const std::vector<Setting>& settings : environments_of(survey, locality)) {
    std::string lines = lines_of(settings);
    const auto [found, fresh] = position.try_emplace(lines, distinct.size());
    if (fresh) distinct.emplace_back(std::move(lines), std::vector<int>());
    distinct[found->second].second.push_back(host++);
  }
  std::string text;
  for (const auto& [lines, hosts] : distinct) {
    const int first = hosts.front();
    text += "# " + as_plain_text(survey.facts(first).hostname.value_or(locality.node(locality.machine(first)).name));
    if (hosts.size() > 1) text += fmt::format(" and {} like it", base::plural(hosts.size() - 1, "host"));
    text += "\n" + lines;
  }
  return text;
}

void write_environment(base::JsonWriter& json, const Survey& survey, Locality& locality) {
  json.begin_list(base::JsonWriter::Layout::Lines);
  int host = 0;
  for (const std::vector<Setting>& settings : environments_of(survey, locality)) {
    for (const Setting& setting : settings) {
      json.begin_object();
      json.member("host", host);
      json.member("name", setting.name);
      json.key("value");
      setting.value.empty() ? json.value(nullptr) : json.value(setting.value);
      json.member("reason", setting.reason);
      json.member("present", setting.present);
      json.end_object();
    }
    ++host;
  }
  json.end_list();
}

}  // namespace weft::topology::advice
