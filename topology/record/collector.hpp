// Collector: what a record of a machine holds, each file, folder and link once, below a root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.hpp"

namespace weft::topology {

struct RecordEntry {
  enum class Kind : std::uint8_t { Folder, File, Link };
  Kind kind = Kind::Folder;
  std::string content;  // of a file; of a link its target
};
using RecordEntries = std::map<std::string, RecordEntry>;  // by path without a slash before it: "sys/class/net"

inline constexpr std::size_t kMaxRecordEntries = 120'000;  // an archive may have a few more when it is read
inline constexpr std::size_t kMaxRecordBytes = std::size_t{24} << 20;

class Collector {
 public:
  explicit Collector(std::string root) : root_(root == "/" ? "" : std::move(root)) {}

  // What is at that path, and the links on the way there. A file is read up to `most` bytes; what cannot be read is
  // left out. With 0 it is only told that it is there.
  void add(const std::string& path, std::size_t most);
  // The names in a folder: links as they are, other entries without content.
  void add_names(const std::string& folder);
  // All paths that match: "*" stands for any part of one name ("sys/devices/system/cpu/cpu*/topology/*").
  void add_matching(const std::string& pattern, std::size_t most);

  // A file of our own making.
  void put(const std::string& path, std::string content);
  RecordEntries& entries() { return entries_; }
  // Whether there was more than a record holds, so that something was left out.
  bool overflowed() const { return overflowed_; }
  // ResourceExhausted if something was left out since it could not be opened for want of open files or memory.
  Status status() const;

 private:
  // The path with all links resolved within the root, which are added; empty if it leads nowhere.
  std::string resolve(const std::string& path);
  // Of the folder at that resolved path.
  std::vector<std::string> names_in(const std::string& real);
  void match(const std::string& folder, std::string_view pattern, std::size_t most, std::size_t depth);
  bool full();  // asked before something is added

  std::string root_;
  RecordEntries entries_;
  std::size_t bytes_ = 0;
  bool overflowed_ = false;
  int shortage_ = 0;  // the errno, if there was one
};

}  // namespace weft::topology
