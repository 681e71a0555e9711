// LocalStoreHub: the store of ranks that are threads of one process. The board behind a mutex; whoever acts also
// delivers.
#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <vector>

#include "base/assert.hpp"
#include "transports/store/board.hpp"
#include "transports/store/client.hpp"
#include "transports/store/inbox.hpp"
#include "transports/store/store.hpp"

namespace weft::transports {
namespace {

class Hub final : public LocalStoreHub {
 public:
  explicit Hub(int size)
      : board_(size, [this](int rank, Frame frame) { post(rank, std::move(frame)); }),
        clients_(static_cast<std::size_t>(size)),
        inboxes_(static_cast<std::size_t>(size)) {}

  std::unique_ptr<Store> store(int rank) override;
  void die(int rank) override;

  void submit(int rank, Frame frame);
  void detach(int rank);

 private:
  void post(int rank, Frame frame);  // under mutex_
  void deliver();

  std::mutex mutex_;
  Board board_;
  std::vector<StoreClient*> clients_;  // by rank; null: no store now
  std::deque<Inbox> inboxes_;          // by rank; an Inbox does not move
};

class LocalLink final : public StoreLink {
 public:
  LocalLink(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  ~LocalLink() override { hub_.detach(rank_); }
  void submit(Frame frame) override { hub_.submit(rank_, std::move(frame)); }

 private:
  Hub& hub_;
  const int rank_;
};

std::unique_ptr<Store> Hub::store(int rank) {
  WEFT_ASSERT(rank >= 0 && rank < board_.size());
  const auto index = static_cast<std::size_t>(rank);
  auto client = std::make_unique<StoreClient>(rank, board_.size(), kDefaultTimeoutMs, inboxes_[index]);
  {
    const std::lock_guard lock(mutex_);
    WEFT_ASSERT(clients_[index] == nullptr);
    clients_[index] = client.get();
    if (board_.member(rank) == Board::Member::Dead) {
      client->fail(Status(Code::PeerLost, fmt::format("rank {} has died in this hub", rank), rank));
    } else {
      board_.join(rank);
    }
  }
  client->attach(std::make_unique<LocalLink>(*this, rank));
  return client;
}

void Hub::die(int rank) {
  WEFT_ASSERT(rank >= 0 && rank < board_.size());
  {
    const std::lock_guard lock(mutex_);
    if (StoreClient* client = clients_[static_cast<std::size_t>(rank)]) {
      client->fail(Status(Code::PeerLost, fmt::format("rank {} was declared dead", rank), rank));
    }
    board_.die(rank);
  }
  deliver();
}

void Hub::submit(int rank, Frame frame) {
  {
    const std::lock_guard lock(mutex_);
    if (board_.member(rank) != Board::Member::Here) return;
    const Status status = board_.handle(rank, std::move(frame));
    WEFT_ASSERT(status.ok());
  }
  deliver();
}

void Hub::detach(int rank) {
  {
    const std::lock_guard lock(mutex_);
    clients_[static_cast<std::size_t>(rank)] = nullptr;
    board_.die(rank);  // does nothing after leave()
  }
  deliver();
}

void Hub::post(int rank, Frame frame) {
  const auto index = static_cast<std::size_t>(rank);
  if (clients_[index] != nullptr) clients_[index]->receive(std::move(frame));
}

// Ranks without news cost one lock each; hubs are small.
void Hub::deliver() {
  for (Inbox& inbox : inboxes_) inbox.deliver();
}

}  // namespace

std::unique_ptr<LocalStoreHub> LocalStoreHub::create(int size) {
  WEFT_ASSERT(size > 0);
  return std::make_unique<Hub>(size);
}

}  // namespace weft::transports
