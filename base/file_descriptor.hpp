// FileDescriptor: owns one descriptor of the operating system and closes it.
#pragma once

#include <unistd.h>

#include <utility>

namespace weft::base {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}  // takes ownership; negative: none
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.number_, -1));
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

  // Gives the descriptor up without closing it.
  int release() { return std::exchange(number_, -1); }

  // close() is not repeated on EINTR: on Linux the descriptor is gone all the same.
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace weft::base
