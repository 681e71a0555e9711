// How long a message takes from one pinned core to another, one way: half of a ping-pong. The receiver copies what it
// is lent into a buffer of its own, as the next user of the bytes would read them.
//
//   bench_transports [local|shm|ucx ...]        local: threads; shm, ucx: processes
//
// 'flag' is a cache line with a counter and nothing else: the floor of the machine at that moment. Virtual processors
// move, so it is measured next to every figure; compare only figures with equal flags.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transports/local.hpp"
#include "transports/shm.hpp"
#include "transports/ucx.hpp"

namespace {

using namespace weft;
using namespace weft::transports;

constexpr int kRepetitions = 9;

double now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

template <typename T>
T require(Result<T> result) {
  if (result) return std::move(result).value();
  fmt::print(stderr, "{}\n", result.error().to_string());
  std::exit(1);
}

// Shared by both sides, threads or processes.
struct Common {
  struct alignas(128) Line {
    std::atomic<std::uint64_t> value;
  };
  std::array<Line, 2> flag;
  std::array<Line, 2> ready;
};

class Side {
 public:
  Side(Common& common, int rank) : common_(common), rank_(rank) { pin(rank); }

  void meet() {
    common_.ready[own()].value.store(++meetings_, std::memory_order_release);
    while (common_.ready[other()].value.load(std::memory_order_acquire) < meetings_) ::sched_yield();
  }

  // Nanoseconds one way, the least of all repetitions; on both sides.
  double flag() {
    return best(20'000, [&] {
      if (rank_ == 0) {
        common_.flag[0].value.store(++flags_, std::memory_order_release);
        wait_flag(1);
      } else {
        ++flags_;
        wait_flag(0);
        common_.flag[1].value.store(flags_, std::memory_order_release);
      }
    });
  }

  double messages(Transport& transport, Endpoint& end, std::size_t bytes) {
    std::vector<std::byte> out(bytes, std::byte{1});
    std::vector<std::byte> in(bytes);
    const int rounds = bytes <= 64 ? 20'000 : 4'000;
    const auto send = [&] {
      const Signature signature{sequence_, 1, 2};
      while (!end.send(out.data(), bytes, signature)) transport.poll();
    };
    const auto receive = [&] {
      const Signature signature{sequence_, 1, 2};
      const void* found = nullptr;
      while ((found = end.receive(bytes, in.data(), signature)) == nullptr) transport.poll();
      if (found != in.data()) std::memcpy(in.data(), found, bytes);
      end.release();
    };
    return best(rounds, [&] {
      ++sequence_;
      if (rank_ == 0) send();
      receive();
      if (rank_ == 1) send();
    });
  }

 private:
  template <typename Round>
  double best(int rounds, Round round) {
    double least = 1e18;
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      meet();
      const double start = now_ns();
      for (int i = 0; i < rounds; ++i) round();
      least = std::min(least, (now_ns() - start) / rounds / 2);
    }
    return least;
  }
  void wait_flag(std::size_t which) const {
    while (common_.flag[which].value.load(std::memory_order_acquire) != flags_) {
    }
  }
  std::size_t own() const { return static_cast<std::size_t>(rank_); }
  std::size_t other() const { return static_cast<std::size_t>(1 - rank_); }

  Common& common_;
  int rank_;
  std::uint64_t meetings_ = 0;
  std::uint64_t flags_ = 0;
  std::uint32_t sequence_ = 0;
};

void measure(Common& common, int rank, Transport& transport, const std::string& peer_address) {
  Side side(common, rank);
  const auto connection = require(transport.connect(rank, 1 - rank, peer_address, 10'000));
  const auto end = require(connection->open_lane(1));
  for (const std::size_t bytes : {8, 40, 64, 512, 1024, 2048, 4096, 16384, 65536}) {
    const double before = side.flag();
    const double time = side.messages(transport, *end, bytes);
    const double after = side.flag();
    if (rank == 0) {
      fmt::print("{:6} {:>6} B  {:9.1f} ns  {:6.2f} GB/s   flag {:.0f} .. {:.0f} ns\n", transport.name(), bytes, time,
                 static_cast<double>(bytes) / time, before, after);
    }
  }
  side.meet();
}

Common& shared_common() {
  void* memory = ::mmap(nullptr, sizeof(Common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *new (memory) Common();
}

void run_threads() {
  Common& common = shared_common();
  const auto hub = LocalHub::create();
  const auto run = [&](int rank) {
    const auto transport = hub->transport(rank);
    measure(common, rank, *transport, transport->address());
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

std::string trade_addresses(int socket, const std::string& own) {
  std::array<char, 65536> buffer{};
  if (::send(socket, own.data(), own.size(), 0) < 0) std::exit(1);
  const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
  if (got <= 0) std::exit(1);
  return {buffer.data(), static_cast<std::size_t>(got)};
}

void run_processes(const std::function<std::unique_ptr<Transport>()>& make) {
  Common& common = shared_common();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) std::exit(1);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  const int rank = child == 0 ? 1 : 0;
  {
    const auto transport = make();
    const std::string address = trade_addresses(ends[rank], transport->address());
    measure(common, rank, *transport, address);
  }
  if (child == 0) std::_Exit(0);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"local", "shm", "ucx"};
  for (const std::string& name : names) {
    if (name == "local") {
      run_threads();
    } else if (name == "shm") {
      run_processes([] { return require(make_shm_transport({})); });
    } else if (name == "ucx") {
      run_processes([] { return require(make_ucx_transport({.interface = "lo"})); });
    } else {
      fmt::print(stderr, "no such transport: {}; known are local, shm, ucx\n", name);
      return 2;
    }
  }
  return 0;
}
