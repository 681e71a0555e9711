// Bindings as text, JSON, and as lines for numactl, mpirun and torchrun.
#include "topology/advice/binding_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "base/plural.hpp"
#include "topology/node_names.hpp"

namespace weft::topology::advice {
namespace {

using Layout = base::JsonWriter::Layout;

constexpr std::array<std::string_view, 5> kForms = {"text", "json", "numactl", "mpirun", "torchrun"};

// Names come from dumps of others: what is printed of them stays on its line, which a shell may read.
std::string host_name(const Survey& survey, const Locality& locality, int host) {
  return as_plain_text(survey.facts(host).hostname.value_or(locality.node(locality.machine(host)).name));
}

std::string device_name(const Binding& rank, const Locality& locality) {
  return as_plain_text(locality.node(rank.device).name);
}

constexpr std::string_view kCudaOrder = "CUDA_DEVICE_ORDER";
constexpr std::string_view kByBusId = "PCI_BUS_ID";

// For a shell; empty where ranks count GPUs so anyhow.
std::string cuda_order_line(const HostBindings& host) {
  return host.cuda_must_be_told ? fmt::format("export {}={}  # so ranks count GPUs as here\n", kCudaOrder, kByBusId)
                                : "";
}

// As host names may be, for a rankfile: letters, digits, '.', '_' and '-'.
std::string as_host_word(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  return name;
}

std::string words(const Binding& rank, const Locality& locality) {
  std::string text;
  const std::string& bus_id = locality.node(rank.device).bus_id;
  if (!bus_id.empty()) text += bus_id + "  ";
  if (rank.index) text += fmt::format("device {}  ", *rank.index);
  text += rank.cpus.empty() ? "cpus unknown" : "cpus " + rank.cpus;
  text += rank.memory_node ? fmt::format("  memory node {}", *rank.memory_node) : "  memory node unknown";
  if (!rank.nics.empty())
    text += fmt::format("  {} {} ({})", rank.nic_names.size() == 1 ? "NIC" : "NICs", fmt::join(rank.nic_names, " "),
                        to_string(*rank.nic_class));
  return as_plain_text(text);
}

// Of a rank whose CPUs are not known, all those of its memory node.
std::string numactl(const Binding& rank) {
  const std::optional<int>& cpu_node = rank.cpu_node ? rank.cpu_node : rank.memory_node;
  if (rank.cpus.empty() && !cpu_node) return "";
  std::string text =
      rank.cpus.empty() ? fmt::format("numactl --cpunodebind={}", *cpu_node) : "numactl --physcpubind=" + rank.cpus;
  if (rank.memory_node) text += fmt::format(" --membind={}", *rank.memory_node);
  return text;
}

std::string notes_of(const HostBindings& host, std::string_view before) {
  std::string text;
  for (const std::string& note : host.notes) text += fmt::format("{}{}\n", before, as_plain_text(note));
  return text;
}

std::string host_text(const HostBindings& host, const Locality& locality) {
  std::string text;
  for (std::size_t i = 0; i < host.ranks.size(); ++i)
    text +=
        fmt::format("  rank {:<3} {:<8} {}\n", i, device_name(host.ranks[i], locality), words(host.ranks[i], locality));
  if (host.cuda_must_be_told) text += fmt::format("  ranks count GPUs so with {}={}\n", kCudaOrder, kByBusId);
  return text + notes_of(host, "  note: ");
}

std::string host_numactl(const HostBindings& host, const Locality& locality) {
  std::string text = cuda_order_line(host);
  for (std::size_t i = 0; i < host.ranks.size(); ++i) {
    const std::string line = numactl(host.ranks[i]);
    text +=
        fmt::format("# rank {}: {}, {}\n{}\n", i, device_name(host.ranks[i], locality), words(host.ranks[i], locality),
                    line.empty() ? "# nothing is known to bind it to" : line + " PROGRAM");
  }
  return text + notes_of(host, "# ");
}

std::string shell_case(const HostBindings& host, const Locality& locality) {
  std::string text;
  for (std::size_t i = 0; i < host.ranks.size(); ++i) {
    const std::string line = numactl(host.ranks[i]);
    text += fmt::format("  {}) exec {}{}\"$@\" ;;  # {}, {}\n", i, line, line.empty() ? "" : " ",
                        device_name(host.ranks[i], locality), words(host.ranks[i], locality));
  }
  return text;
}

std::string host_torchrun(const HostBindings& host, const Locality& locality) {
  return notes_of(host, "# ") + cuda_order_line(host) +
         "case \"${LOCAL_RANK:?start this with torchrun --no-python}\" in\n" + shell_case(host, locality) +
         "  *) echo \"no binding is known for local rank $LOCAL_RANK\" >&2; exit 2 ;;\nesac\n";
}

std::string host_rankfile(const HostBindings& host, const std::string& name, std::size_t first,
                          const Locality& locality) {
  std::string text = notes_of(host, "# ");
  for (std::size_t i = 0; i < host.ranks.size(); ++i)
    if (host.ranks[i].cpus.empty())
      text += fmt::format("# rank {} ({}): {}\n", first + i, device_name(host.ranks[i], locality),
                          host.ranks[i].memory_node
                              ? fmt::format("only its memory node is known: {}", *host.ranks[i].memory_node)
                              : "nothing is known to bind it to");
    else
      text += fmt::format("rank {}={} slot={}\n", first + i, name, host.ranks[i].cpus);
  return text;
}

std::string rankfile(const Survey& survey, const std::vector<HostBindings>& hosts, const Locality& locality) {
  const bool order = std::any_of(hosts.begin(), hosts.end(), [](const auto& host) { return host.cuda_must_be_told; });
  std::string text = fmt::format(
      "# Rankfile of Open MPI 4. Save as FILE and start with\n"
      "#   mpirun {}--mca rmaps_rank_file_physical 1 --rankfile FILE PROGRAM\n"
      "# It binds to CPUs; each rank takes memory where it runs.\n",
      order ? fmt::format("-x {}={} ", kCudaOrder, kByBusId) : "");
  std::size_t first = 0;
  for (const HostBindings& host : hosts) {
    text += host_rankfile(host, as_host_word(host_name(survey, locality, host.host)), first, locality);
    first += host.ranks.size();
  }
  return text;
}

// Hosts with equal text are told once.
template <typename TextOf>
std::string grouped(const Survey& survey, const std::vector<HostBindings>& hosts, const Locality& locality,
                    std::string_view comment, TextOf text_of) {
  std::map<std::string, std::size_t> position;
  std::vector<std::pair<const HostBindings*, std::size_t>> distinct;
  for (const HostBindings& host : hosts) {
    const auto [found, fresh] = position.try_emplace(text_of(host, locality), distinct.size());
    if (fresh) distinct.emplace_back(&host, 0);
    ++distinct[found->second].second;
  }
  std::string text;
  for (const auto& [host, count] : distinct) {
    text += comment;
    text += host_name(survey, locality, host->host);
    if (count > 1) text += fmt::format(" and {} like it", base::plural(count - 1, "host"));
    text += "\n";
    text += text_of(*host, locality);
  }
  return text;
}

std::string torchrun(const Survey& survey, const std::vector<HostBindings>& hosts, const Locality& locality) {
  std::string text = fmt::format(
      "#!/bin/bash\n# Save as bind.sh, make it executable, and start with\n"
      "#   torchrun --no-python --nproc-per-node={} bind.sh python train.py ...\n",
      hosts.front().ranks.size());
  return text + grouped(survey, hosts, locality, "# ", host_torchrun);
}

void write_rank(base::JsonWriter& json, const Binding& rank, std::size_t index, const Locality& locality) {
  json.begin_object();
  json.member("rank", index);
  json.member("device", locality.node(rank.device).name);
  const std::string& bus_id = locality.node(rank.device).bus_id;
  json.key("bus_id");
  bus_id.empty() ? json.value(nullptr) : json.value(bus_id);
  json.member("index", rank.index);
  json.key("cpus");
  rank.cpus.empty() ? json.value(nullptr) : json.value(rank.cpus);
  json.member("memory_node", rank.memory_node);
  json.member("nics", rank.nic_names);
  json.key("nic_class");
  rank.nic_class ? json.value(to_string(*rank.nic_class)) : json.value(nullptr);
  json.end_object();
}

}  // namespace

std::optional<BindingForm> parse_binding_form(std::string_view word) {
  for (std::size_t i = 0; i < kForms.size(); ++i)
    if (kForms[i] == word) return static_cast<BindingForm>(i);
  return std::nullopt;
}

void write_bindings(base::JsonWriter& json, const std::vector<HostBindings>& hosts, const Locality& locality) {
  json.begin_list(Layout::Lines);
  for (const HostBindings& host : hosts) {
    json.begin_object(Layout::Lines);
    json.member("host", host.host);
    json.key("cuda_device_order");
    host.cuda_must_be_told ? json.value(kByBusId) : json.value(nullptr);
    json.begin_list("ranks", Layout::Lines);
    for (std::size_t i = 0; i < host.ranks.size(); ++i) write_rank(json, host.ranks[i], i, locality);
    json.end_list();
    json.member("notes", host.notes);
    json.end_object();
  }
  json.end_list();
}

Result<std::string> binding_text(BindingForm form, const Survey& survey, Locality& locality) {
  const std::vector<HostBindings> hosts = bind_hosts(survey, locality);
  switch (form) {
    case BindingForm::Text:
      return grouped(survey, hosts, locality, "", host_text);
    case BindingForm::Numactl:
      return grouped(survey, hosts, locality, "# ", host_numactl);
    case BindingForm::Mpirun:
      return rankfile(survey, hosts, locality);
    case BindingForm::Torchrun:
      return torchrun(survey, hosts, locality);
    case BindingForm::Json:
      break;
  }
  base::JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("schema", 1);
  json.key("bindings");
  write_bindings(json, hosts, locality);
  json.end_object();
  return std::move(json).text();
}

}  // namespace weft::topology::advice
