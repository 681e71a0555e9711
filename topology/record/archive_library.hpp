// libarchive, loaded when the first archive is read or written: it brings a dozen other libraries, and every process
// that links Weft would pay 5 ms for them.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "weft/status.hpp"

namespace weft::topology {

struct ArchiveLibrary {
  // Unsupported, with the loader's reason, if it is not there or cannot be loaded. Loaded once and kept.
  static Result<const ArchiveLibrary*> load();

  decltype(&::archive_errno) error_number;
  decltype(&::archive_error_string) error_string;
  decltype(&::archive_filter_bytes) filter_bytes;
  decltype(&::archive_filter_count) filter_count;
  decltype(&::archive_read_new) read_new;
  decltype(&::archive_read_free) read_free;
  decltype(&::archive_read_support_filter_bzip2) read_support_filter_bzip2;
  decltype(&::archive_read_support_filter_gzip) read_support_filter_gzip;
  decltype(&::archive_read_support_filter_xz) read_support_filter_xz;
  decltype(&::archive_read_support_format_tar) read_support_format_tar;
  decltype(&::archive_read_open) read_open;
  decltype(&::archive_read_next_header) read_next_header;
  decltype(&::archive_read_data) read_data;
  decltype(&::archive_write_new) write_new;
  decltype(&::archive_write_free) write_free;
  decltype(&::archive_write_add_filter_bzip2) write_add_filter_bzip2;
  decltype(&::archive_write_add_filter_gzip) write_add_filter_gzip;
  decltype(&::archive_write_add_filter_none) write_add_filter_none;
  decltype(&::archive_write_add_filter_xz) write_add_filter_xz;
  decltype(&::archive_write_set_format_gnutar) write_set_format_gnutar;
  decltype(&::archive_write_set_bytes_in_last_block) write_set_bytes_in_last_block;
  decltype(&::archive_write_open) write_open;
  decltype(&::archive_write_header) write_header;
  decltype(&::archive_write_data) write_data;
  decltype(&::archive_write_close) write_close;
  decltype(&::archive_entry_new) entry_new;
  decltype(&::archive_entry_free) entry_free;
  decltype(&::archive_entry_pathname) entry_pathname;
  decltype(&::archive_entry_filetype) entry_filetype;
  decltype(&::archive_entry_size) entry_size;
  decltype(&::archive_entry_symlink) entry_symlink;
  decltype(&::archive_entry_hardlink) entry_hardlink;
  decltype(&::archive_entry_set_pathname) entry_set_pathname;
  decltype(&::archive_entry_set_filetype) entry_set_filetype;
  decltype(&::archive_entry_set_perm) entry_set_perm;
  decltype(&::archive_entry_set_size) entry_set_size;
  decltype(&::archive_entry_set_symlink) entry_set_symlink;
};

}  // namespace weft::topology
