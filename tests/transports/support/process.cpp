// Packets that begin with their length, and the two sides of a fork.
#include "tests/transports/support/process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "tests/transports/support/harness.hpp"

namespace weft::transports::testing {

Pipe::~Pipe() { ::close(descriptor_); }

void Pipe::write(const std::string& text) {
  const auto bytes = static_cast<std::uint32_t>(text.size());
  std::string packet(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  packet += text;
  if (::send(descriptor_, packet.data(), packet.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(packet.size())) {
    ADD_FAILURE() << "the other process does not read";
  }
}

std::string Pipe::read() {
  const auto read_bytes = [&](char* to, std::size_t bytes) {
    while (bytes > 0) {
      pollfd polled{descriptor_, POLLIN, 0};
      const ssize_t got = ::poll(&polled, 1, kDeadlineMs) == 1 ? ::recv(descriptor_, to, bytes, 0) : 0;
      if (got <= 0) {
        std::fprintf(stderr, "the other process sent nothing\n");
        std::_Exit(2);
      }
      to += got;
      bytes -= static_cast<std::size_t>(got);
    }
  };
  std::uint32_t bytes = 0;
  read_bytes(reinterpret_cast<char*>(&bytes), sizeof(bytes));
  std::string text(bytes, '\0');
  read_bytes(text.data(), bytes);
  return text;
}

Process::Process(const std::function<int(Pipe&)>& body) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(ends[0]);
    int result = 0;
    {
      Pipe pipe(ends[1]);
      result = body(pipe);
    }
    std::fflush(nullptr);
    std::_Exit(::testing::Test::HasFailure() ? 1 : result);
  }
  ::close(ends[1]);
  pipe_ = std::make_unique<Pipe>(ends[0]);
}

Process::~Process() {
  if (pid_ > 0) {
    kill();
    wait();
  }
}

void Process::kill() { ::kill(pid_, SIGKILL); }

int Process::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<int>(std::distance(begin(entries), end(entries)));
}

}  // namespace weft::transports::testing
