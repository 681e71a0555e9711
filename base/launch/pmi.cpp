// Rank 0's offer by way of PMI-1, the line protocol between MPICH's (and Intel MPI's) launcher and the processes that
// it starts: "cmd=put kvsname=... key=... value=..." and the like, one line each, one answer each.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/file_descriptor.hpp"
#include "base/launch/launch.hpp"
#include "base/launch/loaded_mpi.hpp"
#include "base/parse.hpp"
#include "base/socket.hpp"

namespace weft::base {
namespace {

constexpr const char* kKey = "weft-rendezvous";
constexpr std::size_t kLongestLine = 4096;

// "V" of "cmd=get_result rc=0 value=V".
std::string_view field(std::string_view line, std::string_view name) {
  for (const std::string_view part : split(line, ' ')) {
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == name) return part.substr(equals + 1);
  }
  return {};
}

class Wire {
 public:
  // `descriptor` stays the launcher's (PMI_FD: the application's MPI may use it after us).
  Wire(int descriptor, Deadline deadline) : descriptor_(descriptor), deadline_(deadline) {}

  // Sends a command (which may be empty) and reads the line that answers it.
  Result<std::string> ask(std::string_view command, std::string_view answer) {
    if (!command.empty()) WEFT_TRY(send(fmt::format("cmd={}\n", command)));
    WEFT_TRY_ASSIGN(std::string line, receive());
    if (field(line, "cmd") != answer || (!field(line, "rc").empty() && field(line, "rc") != "0")) {
      return Status(Code::Corrupt, fmt::format("PMI answered 'cmd={}' by '{}'", command, line));
    }
    return line;
  }

 private:
  Status wait_for(short events) {
    pollfd waiting{.fd = descriptor_, .events = events, .revents = 0};
    for (;;) {
      const int ready = ::poll(&waiting, 1, deadline_.remaining_ms());
      if (ready > 0) return {};
      if (ready == 0) return Status(Code::Timeout, "PMI does not answer; have all ranks come as far as this?");
      if (errno != EINTR) return Status(Code::SystemError, fmt::format("PMI: {}", system_error_text(errno)));
    }
  }

  Status send(std::string_view text) {
    while (!text.empty()) {
      WEFT_TRY(wait_for(POLLOUT));
      // A socket with every known launcher; MSG_NOSIGNAL spares the application a SIGPIPE.
      ssize_t sent = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == ENOTSOCK) sent = ::write(descriptor_, text.data(), text.size());
      if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (sent < 0) return Status(Code::SystemError, fmt::format("PMI: {}", system_error_text(errno)));
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  Result<std::string> receive() {
    // Byte by byte: whatever follows the line is the next reader's, which may be the application's MPI.
    std::string line;
    while (line.size() < kLongestLine) {
      WEFT_TRY(wait_for(POLLIN));
      char c = 0;
      const ssize_t got = ::read(descriptor_, &c, 1);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) return Status(Code::SystemError, fmt::format("PMI: {}", system_error_text(errno)));
      if (got == 0) return Status(Code::PeerLost, "the launcher closed its PMI connection");
      if (c == '\n') return line;
      line.push_back(c);
    }
    return Status(Code::Corrupt, "PMI sent a line without an end");
  }

  const int descriptor_;
  const Deadline deadline_;
};

Result<FileDescriptor> connect_to_port(const ExchangeCall& call) {
  const auto place = parse_host_port(*call.environment.get("PMI_PORT"));
  if (!place)
    return Status(Code::InvalidArgument,
                  fmt::format("PMI_PORT={} is not host:port", *call.environment.get("PMI_PORT")));
  if (!call.environment.has("PMI_ID")) return Status(Code::InvalidArgument, "PMI_PORT is set, but PMI_ID is not");
  WEFT_TRY_ASSIGN(const auto addresses, resolve(place->host, place->port));
  Status last;
  for (const SocketAddress& address : addresses) {
    auto socket = connect_to(address, call.deadline);
    if (!socket.has_value()) {
      last = std::move(socket).error().with_context(fmt::format("PMI_PORT={}", *call.environment.get("PMI_PORT")));
      continue;
    }
    Wire wire(socket->get(), call.deadline);
    WEFT_TRY(wire.ask(fmt::format("initack pmiid={}", *call.environment.get("PMI_ID")), "initack").status());
    for (int i = 0; i < 3; ++i) WEFT_TRY(wire.ask("", "set").status());  // size, rank, debug
    return socket;
  }
  return last;
}

Result<std::string> talk(int descriptor, const ExchangeCall& call) {
  Wire wire(descriptor, call.deadline);
  WEFT_TRY(wire.ask("init pmi_version=1 pmi_subversion=1", "response_to_init").status());
  WEFT_TRY_ASSIGN(const std::string maxes, wire.ask("get_maxes", "maxes"));
  WEFT_TRY_ASSIGN(const std::string named, wire.ask("get_my_kvsname", "my_kvsname"));
  const std::string_view space = field(named, "kvsname");
  if (call.rank == 0) {
    const auto longest = parse_integer(field(maxes, "vallen_max"));
    if (longest && call.offer.size() >= static_cast<std::size_t>(*longest)) {
      return Status(Code::Unsupported,
                    fmt::format("PMI takes values of {} bytes, rank 0's addresses have {}; set WEFT_INTERFACE",
                                *longest, call.offer.size()));
    }
    WEFT_TRY(wire.ask(fmt::format("put kvsname={} key={} value={}", space, kKey, call.offer), "put_result").status());
  }
  WEFT_TRY(wire.ask("barrier_in", "barrier_out").status());
  WEFT_TRY_ASSIGN(const std::string got, wire.ask(fmt::format("get kvsname={} key={}", space, kKey), "get_result"));
  // The launcher takes the end of a process that has said init, but not finalize, for a crash of the job; and it takes
  // no further word after finalize. So where there is an MPI, its MPI_Finalize must say it, and elsewhere we.
  if (!mpi_is_loaded()) WEFT_TRY(wire.ask("finalize", "finalize_ack").status());
  return std::string(field(got, "value"));
}

}  // namespace

Result<std::string> exchange_by_pmi(const ExchangeCall& call) {
  if (const auto inherited = call.environment.get("PMI_FD")) {
    const auto descriptor = parse_integer(*inherited);
    if (!descriptor || *descriptor < 0) {
      return Status(Code::InvalidArgument, fmt::format("PMI_FD={} is not a file descriptor", *inherited));
    }
    return talk(*descriptor, call);
  }
  if (!call.environment.has("PMI_PORT")) {
    return Status(Code::InvalidArgument,
                  "neither PMI_FD nor PMI_PORT is set: this process was not started by mpiexec itself");
  }
  WEFT_TRY_ASSIGN(const FileDescriptor socket, connect_to_port(call));
  return talk(socket.get(), call);
}

}  // namespace weft::base
