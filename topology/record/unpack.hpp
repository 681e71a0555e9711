// A recorded tree in an archive (.tar, .tar.gz, .tar.bz2, .tar.xz), unpacked into a folder of our own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/held_signals.hpp"
#include "weft/status.hpp"

namespace weft::topology {

inline constexpr std::size_t kMaxUnpackedBytes = std::size_t{48} << 20;
inline constexpr std::size_t kMaxArchiveEntries = std::size_t{1} << 17;
// As many bytes of a file as is_archive looks at.
inline constexpr std::size_t kArchiveHeadBytes = 512;

bool is_archive(std::string_view head);

// A folder below the system's temporary one, removed with the object.
class UnpackedArchive {
 public:
  // Corrupt for what is no whole archive, or has paths that lead out of it; ResourceExhausted for one that is too
  // large. Devices, pipes and links that lead out are left out. Nothing is left behind after a failure, nor by a signal
  // that ends the process: it acts when the object is gone, which is made and destroyed in one thread. `bytes`: what
  // the archive holds, if it was read already.
  static Result<UnpackedArchive> unpack(const std::string& path, std::optional<std::string_view> bytes = {});

  UnpackedArchive(UnpackedArchive&& other) noexcept
      : signals_(std::move(other.signals_)), folder_(std::move(other.folder_)), left_out_(other.left_out_) {
    other.folder_.clear();
  }
  UnpackedArchive& operator=(UnpackedArchive&&) = delete;
  UnpackedArchive(const UnpackedArchive&) = delete;
  UnpackedArchive& operator=(const UnpackedArchive&) = delete;
  ~UnpackedArchive();

  const std::string& folder() const { return folder_; }
  // How many links led out of the tree and were not made.
  std::size_t left_out() const { return left_out_; }

 private:
  UnpackedArchive() : signals_(std::make_unique<base::HeldSignals>()) {}
  std::unique_ptr<base::HeldSignals> signals_;  // let go when the folder has been removed
  std::string folder_;
  std::size_t left_out_ = 0;
};

// Whether a link in a folder `depth` levels below the root of its tree stays within the tree, whatever other such links
// it meets: it climbs at its start only, and not above the root.
bool stays_inside(std::string_view target, std::size_t depth);

}  // namespace weft::topology
