// Folders in which the loader looks for libraries.
#include <set>

#include "base/parse.hpp"
#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxFolders = 128;
constexpr std::size_t kMaxConfigurations = 64;

constexpr std::string_view kUsual[] = {"usr/local/nvidia/lib64",  // where GKE mounts the driver's libraries
                                       "usr/local/lib",
                                       "usr/local/lib64",
                                       "lib/x86_64-linux-gnu",
                                       "usr/lib/x86_64-linux-gnu",
                                       "lib/aarch64-linux-gnu",
                                       "usr/lib/aarch64-linux-gnu",
                                       "lib64",
                                       "usr/lib64",
                                       "lib",
                                       "usr/lib",
                                       "usr/lib/wsl/lib",
                                       "run/opengl-driver/lib",
                                       "opt/amazon/ofi-nccl/lib",
                                       "opt/amazon/ofi-nccl/lib64",
                                       "opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
                                       "opt/aws-ofi-nccl/lib",
                                       "opt/hpcx/nccl_rdma_sharp_plugin/lib",
                                       "usr/local/gib/lib64"};

class Folders {
 public:
  void add(std::string_view folder) {
    const bool absolute = folder.starts_with('/');
    folder.remove_prefix(absolute ? 1 : 0);
    if (folder.empty() || list_.size() == kMaxFolders) return;
    if (seen_.emplace(folder).second) list_.emplace_back(folder);
  }
  // Lines of etc/ld.so.conf and the files it includes.
  void add_configuration(const std::optional<std::string>& text) {
    for (const std::string_view line : lines_of(text ? std::string_view(*text) : std::string_view())) {
      const std::string_view folder = trim(line);
      if (folder.starts_with('/')) add(folder);
    }
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace

std::vector<std::string> library_folders(const FactsSource& source) {
  Folders folders;
  if (source.environment)
    for (const std::string_view folder : base::split(source.environment->get("LD_LIBRARY_PATH").value_or(""), ':'))
      if (folder.starts_with('/')) folders.add(folder);
  folders.add_configuration(source.tree.attribute("etc/ld.so.conf"));
  std::vector<std::string> more = source.tree.list("etc/ld.so.conf.d").value_or(std::vector<std::string>());
  for (std::size_t i = 0; i < more.size() && i < kMaxConfigurations; ++i)
    folders.add_configuration(source.tree.attribute("etc/ld.so.conf.d/" + more[i]));
  for (const std::string_view folder : kUsual) folders.add(folder);
  return folders.take();
}

}  // namespace weft::topology
