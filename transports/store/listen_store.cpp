// Rank 0's half of connect_store: choosing the address and the port, starting the server.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/socket.hpp"
#include "transports/store/client.hpp"
#include "transports/store/hello.hpp"
#include "transports/store/server.hpp"
#include "transports/store/tcp_store.hpp"

namespace weft::transports {
namespace {

static_assert(kPortPatienceMs > StoreServer::kLingerMs);
constexpr int kBusyPauseMs = 50;

// Rank 0's link: the server, and the inbox that must outlive it.
class ServerLink final : public StoreLink {
 public:
  ServerLink(const Hello& hello, base::FileDescriptor listener, StoreClient& client, std::unique_ptr<Inbox> inbox)
      : inbox_(std::move(inbox)), server_(hello, std::move(listener), client, *inbox_) {}
  Status start() { return server_.start(); }
  void submit(Frame frame) override { server_.submit(std::move(frame)); }

 private:
  const std::unique_ptr<Inbox> inbox_;
  StoreServer server_;
};

// Of the first one that WEFT_INTERFACE names: the others are for UCX.
Result<base::SocketAddress> interface_address(const std::string& interfaces) {
  WEFT_TRY(base::check_interfaces(interfaces));
  const std::string interface = base::interface_names(interfaces).front();
  std::vector<std::string> names;
  for (const auto& entry : base::interface_addresses()) {
    if (entry.interface == interface) return entry.address;
    if (std::ranges::find(names, entry.interface) == names.end()) names.push_back(entry.interface);
  }
  return Status(Code::InvalidArgument,
                fmt::format("WEFT_INTERFACE={}: this interface is down or has no address; those that have one are {}",
                            interface, fmt::join(names, ", ")));
}

// By its spelling: a host's own name may stand for loopback on that host and for a real address on all others.
bool says_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

Result<base::SocketAddress> listening_address(const Options& options) {
  if (!options.interface.empty()) return interface_address(options.interface);
  if (!says_loopback(options.rendezvous_host)) return base::any_address();
  WEFT_TRY_ASSIGN(const auto addresses, base::resolve(options.rendezvous_host, 0));
  return addresses.front();
}

Result<base::FileDescriptor> listen_on_first_free(const base::SocketAddress& address, const Options& options) {
  const auto patience = base::Deadline::after_ms(std::min(kPortPatienceMs, options.timeout_ms));
  const int last = options.rendezvous_port + std::max(options.port_tries, 1) - 1;
  for (;;) {
    for (int port = options.rendezvous_port; port <= std::min(last, 65535); ++port) {
      auto listener = base::listen_on(address.with_port(port));
      if (listener.has_value() || listener.error().code() != Code::ResourceExhausted) return listener;
    }
    if (patience.passed()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(kBusyPauseMs));
  }
  const auto ports = last > options.rendezvous_port ? fmt::format("ports {} to {} are", options.rendezvous_port, last)
                                                    : fmt::format("port {} is", options.rendezvous_port);
  return Status(
      Code::ResourceExhausted,
      fmt::format(
          "rank 0 cannot listen at {}: {} taken by other programs; choose another port (WEFT_RENDEZVOUS=host:port "
          "or MASTER_PORT), or find the holder with: ss -ltnp",
          address.host(), ports));
}

}  // namespace

Result<ListeningStore> listen_store(const Options& options) {
  WEFT_TRY_ASSIGN(const auto address, listening_address(options));
  WEFT_TRY_ASSIGN(auto listener, listen_on_first_free(address, options));
  WEFT_TRY_ASSIGN(const auto local, base::local_address(listener.get()));
  auto inbox = std::make_unique<Inbox>();
  auto client = std::make_unique<StoreClient>(0, options.size, options.timeout_ms, *inbox);
  auto link = std::make_unique<ServerLink>(make_hello(options), std::move(listener), *client, std::move(inbox));
  ServerLink& server = *link;
  client->attach(std::move(link));
  WEFT_TRY(server.start());
  return ListeningStore{.store = std::move(client), .port = local.port()};
}

}  // namespace weft::transports
