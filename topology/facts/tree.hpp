// Tree: the files below a root folder, "/" live or a recorded tree, read exactly alike. Links that a recorded tree
// holds stay inside it. Everything is bounded: a file is read up to a limit, a folder listed up to a number of names,
// and what is no plain file (a folder, a pipe, a device) reads as if it were not there.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "weft/status.hpp"

namespace weft::topology {

inline constexpr std::size_t kMaxAttributeBytes = 8 * 1024;  // the kernel's end at a page of 4 KiB
inline constexpr std::size_t kMaxTreeBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxFolderNames = 16'384;

// A file that is read here and there: a PCI device's configuration space.
class TreeFile {
 public:
  explicit TreeFile(base::FileDescriptor file) : file_(std::move(file)) {}
  // Little-endian; nothing beyond the end of what may be read.
  std::optional<std::uint32_t> word32(unsigned offset) const;

 private:
  base::FileDescriptor file_;
};

class Tree {
 public:
  // Told of all that was there when it was asked for: what a record must hold.
  enum class Asked : std::uint8_t { Existence, Content, Names };
  using Observer = std::function<void(const std::string& path, Asked asked)>;

  // Paths below are written without the root and without a slash before them: "sys/class/net".
  explicit Tree(std::string root, Observer observer = {});

  bool live() const { return root_ == "/"; }
  const std::string& root() const { return root_; }

  // Without the white space around it; nothing if it cannot be read, is empty, or is longer than an attribute may be.
  std::optional<std::string> attribute(const std::string& path) const;
  // As an attribute that is one whole number.
  std::optional<long long> integer(const std::string& path) const;
  // The beginning of a longer text, up to kMaxTextBytes, as it is; nothing if it cannot be read.
  std::optional<std::string> text(const std::string& path) const;
  // Nothing if it is not there or is no plain file.
  std::optional<TreeFile> file(const std::string& path) const;

  // Names in a folder, sorted, hidden ones left out, at most kMaxFolderNames; nothing if it cannot be read.
  std::optional<std::vector<std::string>> list(const std::string& path) const;
  bool exists(const std::string& path) const;
  // What a symbolic link says, as it is; and the last part of that.
  std::optional<std::string> link(const std::string& path) const;
  std::optional<std::string> link_name(const std::string& path) const;

  // ResourceExhausted if anything was not read since files could not be opened or there was no memory.
  Status status() const;

 private:
  base::FileDescriptor open(const std::string& path, int flags) const;
  std::optional<std::string> read(const std::string& path, std::size_t most, bool whole) const;

  std::string root_;
  Observer observer_;
  base::FileDescriptor folder_;
  mutable std::size_t bytes_left_ = kMaxTreeBytes;  // one thread reads a tree
  mutable int shortage_ = 0;                        // the errno, if there was one
};

}  // namespace weft::topology
