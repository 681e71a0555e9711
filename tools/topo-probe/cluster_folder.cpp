// Dumps of nodes in one folder. Files are read by as many threads as there are CPUs. Recorded trees and archives are
// read before that, one after the other: libhwloc learns of a tree by a variable of the environment, which nobody else
// may read or change meanwhile.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <thread>

#include "base/shortage.hpp"
#include "cluster.hpp"
#include "topology/limits.hpp"
#include "topology/load.hpp"
#include "topology/read_file.hpp"
#include "topology/record/unpack.hpp"

namespace weft::topo_probe {
namespace {

using topology::cluster::ClusterNode;
using topology::cluster::ClusterSource;

constexpr unsigned kMaxThreads = 16;

std::string without_extension(const std::string& file) {
  const std::size_t dot = file.find('.', 1);
  return file.substr(0, dot);
}

// A pipe would be waited for, each one in turn.
bool is_file_or_folder(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
}

// Nothing for what is no dump.
std::optional<ClusterNode> read_node(const std::string& folder, const std::string& file) {
  ClusterNode node;
  node.name = without_extension(file);
  if (!is_file_or_folder(folder + "/" + file)) return std::nullopt;
  Result<topology::Survey> survey = topology::load_survey(folder + "/" + file);
  if (!survey) {
    if (!topology::begins_like_survey(folder + "/" + file)) return std::nullopt;
    node.failure = survey.error().message();
    return node;
  }
  const std::optional<std::string>& hostname = survey->facts(0).hostname;
  if (hostname && !hostname->empty()) node.name = *hostname;
  node.survey = std::move(survey).value();
  return node;
}

bool is_recorded_tree(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ||
         topology::is_archive(topology::read_head(path, topology::kArchiveHeadBytes));
}

// As many as there are files.
std::vector<std::optional<ClusterNode>> read_nodes(const std::string& folder, const std::vector<std::string>& files) {
  std::vector<std::optional<ClusterNode>> nodes(files.size());
  std::vector<std::size_t> plain;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (is_recorded_tree(folder + "/" + files[i]))
      nodes[i] = read_node(folder, files[i]);
    else
      plain.push_back(i);
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < plain.size(); i = next++) nodes[plain[i]] = read_node(folder, files[plain[i]]);
  };
  std::vector<std::jthread> threads;
  const std::size_t count = std::min<std::size_t>(
      {std::max(std::thread::hardware_concurrency(), 1U), kMaxThreads, std::max<std::size_t>(plain.size(), 1)});
  try {
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads: those that run do it, at least this one
  }
  work();
  threads.clear();
  return nodes;
}

// Two dumps of one name are told apart by their files.
void tell_apart(std::vector<std::optional<ClusterNode>>& nodes, const std::vector<std::string>& files) {
  std::map<std::string, int> count;
  for (const std::optional<ClusterNode>& node : nodes)
    if (node) ++count[node->name];
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i] && count[nodes[i]->name] > 1) nodes[i]->name += fmt::format(" ({})", files[i]);
}

}  // namespace

Result<ClusterSource> nodes_of_folder(const std::string& folder) {
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
    return Status(Code::InvalidArgument,
                  fmt::format("{}: is no folder; --cluster --from needs one with a dump of each node", folder));
  WEFT_TRY(base::check_spare());
  const std::vector<std::string> files = topology::list_folder(folder);
  if (files.empty()) return Status(Code::InvalidArgument, fmt::format("{}: holds no dump of a node", folder));
  if (files.size() > static_cast<std::size_t>(topology::kMaxHosts))
    return Status(Code::ResourceExhausted,
                  fmt::format("{}: holds {} dumps; the most is {}", folder, files.size(), topology::kMaxHosts));
  std::vector<std::optional<ClusterNode>> nodes = read_nodes(folder, files);
  tell_apart(nodes, files);
  ClusterSource source;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (nodes[i])
      source.nodes.push_back(std::move(*nodes[i]));
    else
      source.left_out.push_back(files[i]);
  }
  if (source.nodes.empty())
    return Status(Code::InvalidArgument,
                  fmt::format("{}: holds no dump of a node; {} is none", folder, source.left_out.front()));
  return source;
}

}  // namespace weft::topo_probe
