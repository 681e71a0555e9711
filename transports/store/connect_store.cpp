// connect_store: checks the options, then the half that belongs to this rank.
#include <fmt/format.h>

#include "transports/store/hello.hpp"
#include "transports/store/store.hpp"
#include "transports/store/tcp_store.hpp"

namespace weft::transports {
namespace {

Status check(const Options& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return Status(Code::InvalidArgument,
                  fmt::format("rank {} of {} ranks: a rank is 0 to size - 1", options.rank, options.size));
  }
  if (options.size == 1) return {};
  if (options.job_id.size() > kMaxJobBytes) {
    return Status(Code::InvalidArgument,
                  fmt::format("the job id has {} bytes, at most {} are possible", options.job_id.size(), kMaxJobBytes));
  }
  if (options.rendezvous_host.empty()) {
    return Status(Code::InvalidArgument,
                  fmt::format("{} ranks need to know where rank 0 is: set Options::rendezvous_host and "
                              "rendezvous_port, or WEFT_RENDEZVOUS=host:port",
                              options.size));
  }
  if (options.rendezvous_port < (options.rank == 0 ? 0 : 1) || options.rendezvous_port > 65535) {
    return Status(Code::InvalidArgument, fmt::format("{} is no port for a rendezvous", options.rendezvous_port));
  }
  return {};
}

// The hub of a job of one rank, which belongs to its only store.
class LoneStore final : public Store {
 public:
  LoneStore() : hub_(LocalStoreHub::create(1)), store_(hub_->store(0)) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Status set(std::string_view key, std::string_view value) override { return store_->set(key, value); }
  Result<std::string> get(std::string_view key, int timeout_ms) override { return store_->get(key, timeout_ms); }
  Status remove(std::string_view key) override { return store_->remove(key); }
  Status send(int to, std::string_view message) override { return store_->send(to, message); }
  void listen(Listener listener) override { store_->listen(std::move(listener)); }
  void leave() override { store_->leave(); }

 private:
  const std::unique_ptr<LocalStoreHub> hub_;
  const std::unique_ptr<Store> store_;
};

}  // namespace

Result<std::unique_ptr<Store>> connect_store(const Options& options) {
  WEFT_TRY(check(options));
  if (options.size == 1) return Result<std::unique_ptr<Store>>(std::make_unique<LoneStore>());
  if (options.rank != 0) return join_store(options);
  WEFT_TRY_ASSIGN(ListeningStore listening, listen_store(options));
  return std::move(listening.store);
}

}  // namespace weft::transports
