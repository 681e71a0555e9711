// Unpacks archives. Links are made last, so that nothing is ever written through one.
#include "topology/record/unpack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "base/shortage.hpp"
#include "topology/node_names.hpp"
#include "topology/record/archive_library.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxPathBytes = 1024;
constexpr std::size_t kMaxDepth = 64;
// Small, since libarchive asks for the next one only when it has unpacked this, and 1 KiB of bzip2 may be 1 GiB of
// zeros.
constexpr std::size_t kReadBlock = std::size_t{1} << 10;
// All of the archive when unpacked: also its headers, and what is passed over.
constexpr std::size_t kMaxStreamBytes = kMaxUnpackedBytes + kMaxArchiveEntries * (std::size_t{2} << 10);
constexpr int kMaxFilters = 2;  // the file itself and one compression
constexpr int kMaxUnpackMs = 20'000;

// Nobody reads these, and a tree of a large machine has thousands: memory blocks of NUMA nodes, statistics of CPUs.
bool is_unread(const std::vector<std::string_view>& parts) {
  constexpr std::string_view kUnread[] = {"cpuidle", "microcode", "thermal_throttle", "crash_notes",
                                          "crash_notes_size"};
  const auto system = std::find(parts.begin(), parts.end(), "system");
  if (parts.end() - system < 4) return false;
  const std::string_view kind = *(system + 1);
  const std::string_view what = *(system + 3);
  if (kind == "node") return what.starts_with("memory") && what.size() > std::string_view("memory").size();
  return kind == "cpu" && std::find(std::begin(kUnread), std::end(kUnread), what) != std::end(kUnread);
}

// A folder of our own: in memory where there is room, since a tree is thousands of small files.
std::string make_temporary_folder() {
  struct statvfs memory;
  std::error_code error;
  const std::string usual = std::filesystem::temp_directory_path(error).string();
  const bool room = std::getenv("TMPDIR") == nullptr && ::statvfs("/dev/shm", &memory) == 0 &&
                    memory.f_bavail * memory.f_frsize > 4 * kMaxUnpackedBytes;
  for (const std::string& place : {std::string(room ? "/dev/shm" : ""), usual}) {
    std::string folder = place + "/weft-tree-XXXXXX";
    if (!place.empty() && ::mkdtemp(folder.data()) != nullptr) return folder;
  }
  return {};
}

Status unwritable(const std::string& path) {
  if (base::is_shortage(errno)) return base::shortage(errno).with_context(path);
  return Status(Code::SystemError, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

struct Source {
  const std::string& name;
  std::optional<std::string_view> bytes;  // else the file of that name
};

class Unpacker {
 public:
  Unpacker(const ArchiveLibrary& library, const Source& source, std::string folder, const base::HeldSignals& signals)
      : library_(library),
        name_(source.name),
        bytes_left_(source.bytes),
        folder_(std::move(folder)),
        signals_(signals),
        reader_(library.read_new(), library.read_free) {}

  Status run() {
    if (!bytes_left_) file_ = base::FileDescriptor(::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!bytes_left_ && !file_) return unreadable();
    if (reader_ == nullptr) return base::shortage(ENOMEM).with_context(name_);
    library_.read_support_filter_bzip2(reader_.get());
    library_.read_support_filter_gzip(reader_.get());
    library_.read_support_filter_xz(reader_.get());
    library_.read_support_format_tar(reader_.get());
    if (library_.read_open(reader_.get(), this, nullptr, next_block, nullptr) != ARCHIVE_OK) return corrupt();
    if (library_.filter_count(reader_.get()) > kMaxFilters) return refused("is compressed more than once");
    archive_entry* entry = nullptr;
    for (std::size_t entries = 0;; ++entries) {
      const int result = library_.read_next_header(reader_.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return corrupt();
      if (entries == kMaxArchiveEntries) return refused(fmt::format("holds more than {} entries", kMaxArchiveEntries));
      WEFT_TRY(check_bounds());
      WEFT_TRY(take(entry));
    }
    return make_links();
  }
  std::size_t left_out() const { return left_out_; }

 private:
  struct Link {
    std::string path;
    std::string target;
    std::size_t depth;  // of the folder it is in
  };

  // libarchive unpacks what is passed over within its own calls: this is where it can be stopped.
  static la_ssize_t next_block(archive*, void* self, const void** block) {
    Unpacker& unpacker = *static_cast<Unpacker*>(self);
    if (unpacker.must_stop()) return -1;
    if (unpacker.bytes_left_) return unpacker.next_bytes(block);
    ssize_t got = 0;
    do got = ::read(unpacker.file_.get(), unpacker.block_.data(), unpacker.block_.size());
    while (got < 0 && errno == EINTR);
    *block = unpacker.block_.data();
    return got;
  }
  la_ssize_t next_bytes(const void** block) {
    const std::string_view next = bytes_left_->substr(0, kReadBlock);
    bytes_left_->remove_prefix(next.size());
    *block = next.data();
    return static_cast<la_ssize_t>(next.size());
  }
  bool is_too_long() const {
    return library_.filter_bytes(reader_.get(), 0) > static_cast<la_int64_t>(kMaxStreamBytes);
  }
  // Makes no text: it is asked within libarchive, through which nothing may be thrown.
  bool must_stop() const { return deadline_.passed() || is_too_long() || signals_.any_waits(); }
  Status check_bounds() const {
    if (signals_.any_waits()) return Status(Code::Aborted, fmt::format("{}: a signal ends the reading", name_));
    if (deadline_.passed()) return refused(fmt::format("takes longer than {} s to unpack", kMaxUnpackMs / 1000));
    if (is_too_long()) return refused(fmt::format("is more than {} MiB of archive", kMaxStreamBytes >> 20));
    return {};
  }

  Status unreadable() const {
    if (base::is_shortage(errno)) return base::shortage(errno).with_context(name_);
    return Status(Code::NotFound, fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
  }
  Status corrupt() const {
    WEFT_TRY(check_bounds());
    if (library_.error_number(reader_.get()) == ENOMEM) return base::shortage(ENOMEM).with_context(name_);
    WEFT_TRY(base::check_spare().with_context(name_));  // its decompressors do not say that
    const char* why = library_.error_string(reader_.get());
    return Status(Code::Corrupt, fmt::format("{}: is no archive, or cut: {}", name_,
                                             why != nullptr ? as_plain_text(why) : "no more is known"));
  }
  Status refused(std::string_view reason) const {
    return Status(Code::ResourceExhausted,
                  fmt::format("{}: {}; give an archive of sys/ and proc/ alone", name_, reason));
  }
  Status too_large() const { return refused(fmt::format("holds more than {} MiB unpacked", kMaxUnpackedBytes >> 20)); }

  Status take(archive_entry* entry) {
    const char* const raw = library_.entry_pathname(entry);
    if (raw == nullptr || std::strlen(raw) > kMaxPathBytes)
      return Status(Code::Corrupt, name_ + ": an entry without a sound name");
    // Also of what is not read: it is unpacked all the same.
    const auto announced = static_cast<std::uint64_t>(std::max<la_int64_t>(library_.entry_size(entry), 0));
    if (announced > kMaxUnpackedBytes - bytes_) return too_large();
    const std::vector<std::string_view> parts = path_parts(raw);
    if (*raw == '/' || parts.size() > kMaxDepth || std::find(parts.begin(), parts.end(), "..") != parts.end())
      return Status(Code::Corrupt, fmt::format("{}: the entry {} leads out of the archive", name_, as_plain_text(raw)));
    if (parts.empty() || is_unread(parts)) return {};
    const bool folder = library_.entry_filetype(entry) == AE_IFDIR;
    std::string path = folder_;
    for (std::size_t i = 0; i + (folder ? 0 : 1) < parts.size(); ++i)
      WEFT_TRY(make_folder(path.append("/").append(parts[i])));
    path.append("/").append(parts.back());
    if (library_.entry_filetype(entry) == AE_IFREG && library_.entry_hardlink(entry) == nullptr)
      return write_file(path);
    if (const char* target = library_.entry_symlink(entry);
        library_.entry_filetype(entry) == AE_IFLNK && target != nullptr)
      links_.push_back({std::move(path), target, parts.size() - 1});
    return {};  // devices, pipes and hard links are left out
  }

  Status make_folder(const std::string& path) {
    if (!made_.insert(path).second) return {};
    return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? Status() : unwritable(path);
  }

  Status write_file(const std::string& path) {
    const base::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file && (errno == EISDIR || errno == ENOTDIR))
      return Status(Code::Corrupt, fmt::format("{}: an entry is both a file and a folder", name_));
    if (!file) return unwritable(path);
    char block[16 << 10];
    for (;;) {
      const la_ssize_t got = library_.read_data(reader_.get(), block, sizeof block);
      if (got == 0) return {};
      if (got < 0) return corrupt();
      bytes_ += static_cast<std::size_t>(got);
      if (bytes_ > kMaxUnpackedBytes) return too_large();
      if (::write(file.get(), block, static_cast<std::size_t>(got)) != got) return unwritable(path);
    }
  }

  // Their folders are real ones: they were made before any link was.
  Status make_links() {
    for (const Link& link : links_) {
      if (!stays_inside(link.target, link.depth)) {
        ++left_out_;
        continue;
      }
      if (::symlink(link.target.c_str(), link.path.c_str()) != 0 && errno != EEXIST) return unwritable(link.path);
    }
    return {};
  }

  const ArchiveLibrary& library_;
  const std::string& name_;
  std::optional<std::string_view> bytes_left_;
  std::string folder_;
  const base::HeldSignals& signals_;
  base::FileDescriptor file_;
  std::array<char, kReadBlock> block_;
  base::Deadline deadline_ = base::Deadline::after_ms(kMaxUnpackMs);
  std::unique_ptr<archive, int (*)(archive*)> reader_;
  std::unordered_set<std::string> made_;
  std::vector<Link> links_;
  std::size_t bytes_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

bool is_archive(std::string_view head) {
  constexpr std::size_t kTarMagic = 257;
  return head.starts_with("BZh") || head.starts_with("\x1f\x8b") ||
         head.starts_with(std::string_view("\xfd"
                                           "7zXZ\0",
                                           6)) ||
         (head.size() > kTarMagic && head.substr(kTarMagic).starts_with("ustar"));
}

bool stays_inside(std::string_view target, std::size_t depth) {
  if (target.empty() || target.front() == '/') return false;
  bool climbs = true;
  std::size_t up = 0;
  for (std::string_view part : path_parts(target)) {
    if (part != "..")
      climbs = false;
    else if (!climbs || ++up > depth)
      return false;
  }
  return true;
}

Result<UnpackedArchive> UnpackedArchive::unpack(const std::string& path, std::optional<std::string_view> bytes) {
  WEFT_TRY(base::check_spare());
  WEFT_TRY_ASSIGN(const ArchiveLibrary* library, ArchiveLibrary::load());
  UnpackedArchive unpacked;
  unpacked.folder_ = make_temporary_folder();
  if (unpacked.folder_.empty())
    return Status(Code::SystemError, fmt::format("cannot make a temporary folder to unpack {}: {}; set TMPDIR", path,
                                                 std::strerror(errno)));
  Unpacker unpacker(*library, {path, bytes}, unpacked.folder_, *unpacked.signals_);
  WEFT_TRY(unpacker.run());
  unpacked.left_out_ = unpacker.left_out();
  return unpacked;
}

// With a few open files, however deep the folder is.
UnpackedArchive::~UnpackedArchive() {
  constexpr int kOpenFiles = 4;
  const auto remove = [](const char* path, const struct stat*, int, FTW*) { return ::remove(path); };
  if (!folder_.empty()) ::nftw(folder_.c_str(), remove, kOpenFiles, FTW_DEPTH | FTW_PHYS);
}

}  // namespace weft::topology
