// A machine with GPUs as fake_cuda and fake_hip play it: it checks what it is asked, and copies at a rate.
// WEFT_TEST_GPUS says which:
//
//   N@GBS          N GPUs 0000:10:00.0, 0000:11:00.0, ...; every copy at that rate
//   shared:N@GBS   all copies share one link of that rate
//   slow:N@GBS     GPU 1 copies at a tenth of it
//   broken:N@GBS   what GPU 1 does fails
//   stuck:N@GBS    what GPU 1 does never ends
//   hangs refuses crashes    at the start
#pragma once

#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace weft::fakes {

inline constexpr int kFine = 0;
inline constexpr int kInvalid = 1;
inline constexpr int kNoDevice = 100;
inline constexpr int kLaunchFailure = 719;

class FakeGpus {
 public:
  struct Stream {
    int gpu = 0;
    std::size_t bytes = 0;  // started and not waited for
    bool touches_gpu1 = false;
  };

  FakeGpus() {
    const char* text = std::getenv("WEFT_TEST_GPUS");
    std::string words = text != nullptr ? text : "2@1";
    if (const std::size_t colon = words.find(':'); colon != std::string::npos) {
      role_ = words.substr(0, colon);
      words.erase(0, colon + 1);
    }
    if (std::sscanf(words.c_str(), "%d@%lf", &count_, &gbs_) != 2) role_ = words;
  }

  int start() const {
    while (role_ == "hangs") ::pause();
    if (role_ == "crashes") std::raise(SIGABRT);
    return role_ == "refuses" ? kNoDevice : kFine;
  }
  int count() const { return count_; }
  bool has(int gpu) const { return gpu >= 0 && gpu < count_; }
  int bus_id(int gpu, char* text, int bytes) const {
    if (!has(gpu)) return kInvalid;
    std::snprintf(text, static_cast<std::size_t>(bytes), "0000:%X:00.0", 0x10 + gpu);
    return kFine;
  }

  // Addresses are made up: nothing is written there.
  int allocate(int gpu, std::size_t bytes, std::uint64_t& memory) {
    const std::lock_guard lock(mutex_);
    if (!has(gpu)) return kInvalid;
    next_ += bytes + 4096;
    memory = next_ - bytes;
    blocks_[memory] = {bytes, gpu};
    return kFine;
  }
  int pin(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    pinned_[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
    return kFine;
  }
  int make_stream(int gpu, void*& stream) {
    const std::lock_guard lock(mutex_);
    if (!has(gpu)) return kInvalid;
    streams_.push_back(new Stream{gpu, 0, false});
    stream = streams_.back();
    return kFine;
  }
  // `gpu`: whose memory it has to be; -1: the host's.
  bool holds(std::uint64_t memory, std::size_t bytes, int gpu) {
    const std::lock_guard lock(mutex_);
    if (gpu < 0) return pinned_.contains(memory) && bytes <= pinned_[memory];
    const auto found = blocks_.find(memory);
    return found != blocks_.end() && found->second.second == gpu && bytes <= found->second.first;
  }
  // Started by the GPU that the thread uses, on a stream of that GPU.
  int copy(std::uint64_t to, int to_gpu, std::uint64_t from, int from_gpu, std::size_t bytes, void* stream, int used) {
    auto* on = static_cast<Stream*>(stream);
    if (on == nullptr || on->gpu != used || (used != to_gpu && used != from_gpu)) return kInvalid;
    if (!holds(to, bytes, to_gpu) || !holds(from, bytes, from_gpu)) return kInvalid;
    on->bytes += bytes;
    on->touches_gpu1 |= to_gpu == 1 || from_gpu == 1;
    return kFine;
  }
  int wait(void* stream) {
    auto* on = static_cast<Stream*>(stream);
    if (on == nullptr) return kInvalid;
    if (role_ == "broken" && std::exchange(on->touches_gpu1, false)) return kLaunchFailure;
    while (role_ == "stuck" && on->touches_gpu1) ::pause();
    double seconds = static_cast<double>(on->bytes) / gbs_ / 1e9;
    if (role_ == "slow" && on->touches_gpu1) seconds *= 10;
    on->bytes = 0;
    on->touches_gpu1 = false;
    const bool shared = role_ == "shared";
    if (shared) link_.lock();
    sleep(seconds);
    if (shared) link_.unlock();
    return kFine;
  }

 private:
  static void sleep(double seconds) {
    timespec left{static_cast<time_t>(seconds),
                  static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
    while (::nanosleep(&left, &left) != 0) {
    }
  }

  std::string role_;
  int count_ = 0;
  double gbs_ = 1;
  std::mutex mutex_;
  std::mutex link_;
  std::uint64_t next_ = std::uint64_t{1} << 32;
  std::map<std::uint64_t, std::pair<std::size_t, int>> blocks_;  // bytes and GPU
  std::map<std::uint64_t, std::size_t> pinned_;
  std::vector<Stream*> streams_;  // never ended, as the process does
};

inline FakeGpus& gpus() {
  static FakeGpus gpus;
  return gpus;
}

}  // namespace weft::fakes
