// A record is what was read: the readers of facts run on a tree that notes what they ask for, and a table has the rest.
#include "topology/record/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/output.hpp"
#include "base/parse.hpp"
#include "base/shortage.hpp"
#include "topology/facts/read_facts.hpp"
#include "topology/facts/readers.hpp"
#include "topology/read_file.hpp"
#include "topology/record/anonymise.hpp"
#include "topology/record/archive_library.hpp"
#include "topology/record/collector.hpp"
#include "topology/record/record_paths.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kTop = "weft-record/";
constexpr std::size_t kMostOfNoticed = kMaxTextBytes;
// Signs of a container, whose values are nobody's business.
constexpr std::string_view kSigns[] = {"KUBERNETES_SERVICE_HOST", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"};

bool is_other_process(std::string_view path) {
  constexpr std::string_view kProc = "proc/";
  return path.starts_with(kProc) && path.size() > kProc.size() && path[kProc.size()] >= '0' &&
         path[kProc.size()] <= '9';
}

// The first process tells whether all are seen; of others only the fabric manager matters.
bool is_wanted_process(const std::string& root, std::string_view path) {
  const std::string_view number = base::split(path, '/')[1];
  if (number == "1") return true;
  const std::optional<std::string> name = read_attribute(fmt::format("{}/proc/{}/comm", root, number));
  return name && name->starts_with("nv-fabricmanage");
}

void notice(Collector& collector, const std::string& root, const std::string& path, Tree::Asked asked) {
  if (path == "proc/self/numa_maps" || path == "proc") return;  // of the recorder itself; of all processes
  if (is_other_process(path) && !is_wanted_process(root, path)) return;
  collector.add(path, asked == Tree::Asked::Existence ? 0 : kMostOfNoticed);
  if (asked == Tree::Asked::Names) collector.add_names(path);
}

// Mounts tell names of file servers and users; of interest are cgroups and /dev/shm.
std::string relevant_mounts(std::string_view text) {
  std::string kept;
  for (std::string_view line : lines_of(text))
    if (line.find(" cgroup") != std::string_view::npos || line.find(" /dev/shm ") != std::string_view::npos)
      kept += fmt::format("{}\n", line);
  return kept;
}

std::string relevant_environment(const Tree& tree) {
  const std::optional<base::Environment> environment = read_environment(tree);
  std::string text;
  if (!environment) return text;
  for (const Variable& variable : relevant_variables(*environment))
    text += fmt::format("{}={}", variable.name, variable.value) + '\0';
  for (std::string_view sign : kSigns)
    if (environment->has(sign)) text += fmt::format("{}=1", sign) + '\0';
  return text;
}

void keep_what_matters(RecordEntries& entries) {
  for (const char* mounts : {"proc/self/mountinfo", "proc/self/mounts", "proc/mounts"})
    if (const auto found = entries.find(mounts);
        found != entries.end() && found->second.kind == RecordEntry::Kind::File)
      found->second.content = relevant_mounts(found->second.content);
}

Result<RecordEntries> collect(const std::string& root) {
  Collector collector(root);
  const std::string prefix = root == "/" ? "" : root;
  const Tree tree(root, [&](const std::string& path, Tree::Asked asked) { notice(collector, prefix, path, asked); });
  std::vector<Remark> ignored;
  read_host_facts(tree, Graph(), ignored);
  collector.add("dev/null", 0);  // a sign of a whole /dev
  for (const RecordPath& path : record_paths()) collector.add_matching(std::string(path.pattern), path.most);
  if (collector.overflowed())
    return Status(Code::ResourceExhausted,
                  fmt::format("cannot record {}: what is read of it is more than {} files or {} MiB; archive its sys/ "
                              "and proc/ by other means",
                              root, kMaxRecordEntries, kMaxRecordBytes >> 20));
  WEFT_TRY(tree.status());
  WEFT_TRY(collector.status());
  collector.put("proc/self/environ", relevant_environment(Tree(root)));
  keep_what_matters(collector.entries());
  return std::move(collector.entries());
}

using AddFilter = decltype(ArchiveLibrary::write_add_filter_bzip2);
struct Ending {
  std::string_view text;
  AddFilter ArchiveLibrary::*add_filter;
};
// Those that load_survey() reads, too.
constexpr Ending kEndings[] = {
    {".tar.bz2", &ArchiveLibrary::write_add_filter_bzip2}, {".tbz2", &ArchiveLibrary::write_add_filter_bzip2},
    {".tar.gz", &ArchiveLibrary::write_add_filter_gzip},   {".tgz", &ArchiveLibrary::write_add_filter_gzip},
    {".tar.xz", &ArchiveLibrary::write_add_filter_xz},     {".txz", &ArchiveLibrary::write_add_filter_xz},
    {".tar", &ArchiveLibrary::write_add_filter_none},
};

Result<const Ending*> ending_of(std::string_view path) {
  for (const Ending& ending : kEndings)
    if (path.ends_with(ending.text)) return &ending;
  return Status(
      Code::InvalidArgument,
      fmt::format("cannot record into \"{}\": its ending says no compression that is written; give a name that "
                  "ends in .tar.bz2, .tar.gz, .tar.xz or .tar",
                  path));
}

class Packer {
 public:
  Packer(const ArchiveLibrary& library, const Ending& ending)
      : library_(library),
        ending_(ending),
        writer_(library.write_new(), library.write_free),
        entry_(library.entry_new(), library.entry_free) {}

  Result<std::string> pack(const RecordEntries& entries) {
    if (writer_ == nullptr || entry_ == nullptr) return failed();
    if ((library_.*ending_.add_filter)(writer_.get()) != ARCHIVE_OK ||
        library_.write_set_format_gnutar(writer_.get()) != ARCHIVE_OK ||
        library_.write_set_bytes_in_last_block(writer_.get(), 1) != ARCHIVE_OK ||  // no padding behind the end
        library_.write_open(writer_.get(), &bytes_, nullptr, append, nullptr) != ARCHIVE_OK)
      return failed();
    for (const auto& [path, entry] : entries)
      if (!add(path, entry)) return failed();
    if (library_.write_close(writer_.get()) != ARCHIVE_OK) return failed();
    return std::move(bytes_);
  }

 private:
  static la_ssize_t append(archive*, void* bytes, const void* block, std::size_t size) {
    try {  // not through libarchive
      static_cast<std::string*>(bytes)->append(static_cast<const char*>(block), size);
    } catch (const std::bad_alloc&) {
      return -1;
    }
    return static_cast<la_ssize_t>(size);
  }

  bool add(const std::string& path, const RecordEntry& entry) {
    const bool link = entry.kind == RecordEntry::Kind::Link;
    const bool folder = entry.kind == RecordEntry::Kind::Folder;
    const std::size_t size = link ? 0 : entry.content.size();
    const std::string name = std::string(kTop) + path;
    library_.entry_set_pathname(entry_.get(), name.c_str());
    library_.entry_set_filetype(entry_.get(), link ? AE_IFLNK : folder ? AE_IFDIR : AE_IFREG);
    library_.entry_set_perm(entry_.get(), folder ? 0755 : 0644);
    library_.entry_set_size(entry_.get(), static_cast<la_int64_t>(size));
    library_.entry_set_symlink(entry_.get(), link ? entry.content.c_str() : nullptr);
    return library_.write_header(writer_.get(), entry_.get()) == ARCHIVE_OK &&
           (size == 0 ||
            library_.write_data(writer_.get(), entry.content.data(), size) == static_cast<la_ssize_t>(size));
  }

  Status failed() const {
    if (writer_ == nullptr || entry_ == nullptr || library_.error_number(writer_.get()) == ENOMEM)
      return base::shortage(ENOMEM).with_context("cannot write an archive");
    if (Status spare = base::check_spare(); !spare.ok()) return spare;
    const char* const why = library_.error_string(writer_.get());
    return Status(Code::SystemError,
                  fmt::format("cannot write an archive: {}", why != nullptr ? why : "no more is known"));
  }

  const ArchiveLibrary& library_;
  const Ending& ending_;
  std::string bytes_;
  std::unique_ptr<archive, int (*)(archive*)> writer_;
  std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry_;
};

}  // namespace

Status write_record(const std::string& path, const RecordOptions& options) {
  WEFT_TRY_ASSIGN(const Ending* ending, ending_of(path));
  WEFT_TRY(base::check_writable(path));
  WEFT_TRY(base::check_spare());
  WEFT_TRY_ASSIGN(const ArchiveLibrary* library, ArchiveLibrary::load());
  const std::string root = options.root.empty() ? "/" : options.root;
  WEFT_TRY_ASSIGN(RecordEntries entries, collect(root));
  if (!entries.contains("sys") && entries.lower_bound("sys/") == entries.end())
    return Status(Code::NotFound, fmt::format("cannot record {}: there is no /sys to read", root));
  if (options.anonymise) {
    const auto host = entries.find("proc/sys/kernel/hostname");
    Anonymiser(host == entries.end() ? std::string() : std::string(trim(host->second.content))).entries(entries);
  }
  WEFT_TRY_ASSIGN(const std::string bytes, Packer(*library, *ending).pack(entries));
  return base::write_file(path, bytes);
}

}  // namespace weft::topology
