// Finds libarchive's functions by name.
#include "topology/record/archive_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

namespace weft::topology {
namespace {

constexpr const char* kFile = "libarchive.so.13";

class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}
  template <typename Function>
  void operator()(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr) missing_ = name;
  }
  std::string_view missing() const { return missing_; }  // one of them; empty: all are there

 private:
  void* library_;
  std::string_view missing_;
};

void find_readers(Finder& find, ArchiveLibrary& library) {
  find("archive_errno", library.error_number);
  find("archive_error_string", library.error_string);
  find("archive_filter_bytes", library.filter_bytes);
  find("archive_filter_count", library.filter_count);
  find("archive_read_new", library.read_new);
  find("archive_read_free", library.read_free);
  find("archive_read_support_filter_bzip2", library.read_support_filter_bzip2);
  find("archive_read_support_filter_gzip", library.read_support_filter_gzip);
  find("archive_read_support_filter_xz", library.read_support_filter_xz);
  find("archive_read_support_format_tar", library.read_support_format_tar);
  find("archive_read_open", library.read_open);
  find("archive_read_next_header", library.read_next_header);
  find("archive_read_data", library.read_data);
  find("archive_entry_pathname", library.entry_pathname);
  find("archive_entry_filetype", library.entry_filetype);
  find("archive_entry_size", library.entry_size);
  find("archive_entry_symlink", library.entry_symlink);
  find("archive_entry_hardlink", library.entry_hardlink);
}

void find_writers(Finder& find, ArchiveLibrary& library) {
  find("archive_write_new", library.write_new);
  find("archive_write_free", library.write_free);
  find("archive_write_add_filter_bzip2", library.write_add_filter_bzip2);
  find("archive_write_add_filter_gzip", library.write_add_filter_gzip);
  find("archive_write_add_filter_none", library.write_add_filter_none);
  find("archive_write_add_filter_xz", library.write_add_filter_xz);
  find("archive_write_set_format_gnutar", library.write_set_format_gnutar);
  find("archive_write_set_bytes_in_last_block", library.write_set_bytes_in_last_block);
  find("archive_write_open", library.write_open);
  find("archive_write_header", library.write_header);
  find("archive_write_data", library.write_data);
  find("archive_write_close", library.write_close);
  find("archive_entry_new", library.entry_new);
  find("archive_entry_free", library.entry_free);
  find("archive_entry_set_pathname", library.entry_set_pathname);
  find("archive_entry_set_filetype", library.entry_set_filetype);
  find("archive_entry_set_perm", library.entry_set_perm);
  find("archive_entry_set_size", library.entry_set_size);
  find("archive_entry_set_symlink", library.entry_set_symlink);
}

// As the loader puts it: that there is no such file, or no memory to map it.
Status missing(std::string_view reason) {
  return Status(Code::Unsupported, fmt::format("archives need {}: {}; install the package libarchive13 if it is not "
                                               "here, or give an unpacked folder",
                                               kFile, reason));
}

Result<ArchiveLibrary> open_library() {
  void* const file = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) {
    const char* const reason = ::dlerror();
    return missing(reason != nullptr ? reason : "the loader says no more");
  }
  ArchiveLibrary library{};
  Finder find(file);
  find_readers(find, library);
  find_writers(find, library);
  if (!find.missing().empty()) return missing(fmt::format("it lacks {}", find.missing()));
  return library;
}

}  // namespace

Result<const ArchiveLibrary*> ArchiveLibrary::load() {
  static const Result<ArchiveLibrary> library = open_library();
  if (!library) return library.error();
  return &*library;
}

}  // namespace weft::topology
