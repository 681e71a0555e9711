// StoreClient: one rank's end of a store. Turns the blocking calls of Store into questions on a link and waits for the
// answers; the same for threads of one process, for rank 0 beside its server, and for a rank behind a socket: only the
// link differs.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/deadline.hpp"
#include "transports/store/frame.hpp"
#include "transports/store/inbox.hpp"
#include "transports/store/store.hpp"

namespace weft::transports {

class StoreClient;

// Carries frames to whatever holds the board. Frames in the other direction go to StoreClient::receive.
class StoreLink {
 public:
  virtual ~StoreLink() = default;  // after it nothing calls the client any more
  // Any thread; never waits for the other side. A link that broke drops the frame: it has told the client by fail().
  virtual void submit(Frame frame) = 0;
  // Any thread.
  virtual base::Usage usage() { return {}; }
};

class StoreClient final : public Store {
 public:
  // `inbox` lives as long as the link (which may own it). set() and remove() wait at most `timeout_ms`.
  StoreClient(int rank, int size, int timeout_ms, Inbox& inbox);
  ~StoreClient() override;
  // Once, before the first use.
  void attach(std::unique_ptr<StoreLink> link) { link_ = std::move(link); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Status set(std::string_view key, std::string_view value) override;
  Result<std::string> get(std::string_view key, int timeout_ms) override;
  Status remove(std::string_view key) override;
  Status send(int to, std::string_view message) override;
  void listen(Listener listener) override;
  void leave() override;
  base::Usage usage() const override { return link_ == nullptr ? base::Usage() : link_->usage(); }

  // For links. receive() never blocks nor runs a listener (Inbox::deliver must follow where a notice was brought).
  // fail(): no answer will come any more; the first reason counts.
  void receive(Frame frame);
  void fail(Status why);

 private:
  struct Question {
    bool answered = false;
    Status status;
    std::string value;
  };

  Result<std::string> ask(Frame frame, int timeout_ms);
  void answer(Question& question, Frame&& frame);
  // Of this process: a forked child has neither the threads nor the right to speak for its parent.
  Status usable() const;
  Status timed_out(const Frame& frame, int timeout_ms, std::string_view absent) const;

  const int rank_;
  const int size_;
  const int timeout_ms_;
  const pid_t process_;
  const int exceptions_;  // in flight when this was made
  Inbox& inbox_;
  std::unique_ptr<StoreLink> link_;

  mutable std::mutex mutex_;  // never held while calling link_ or inbox_
  std::unique_ptr<std::condition_variable> answered_ = std::make_unique<std::condition_variable>();
  std::map<std::uint32_t, Question> questions_;
  std::uint32_t next_request_ = 1;
  Status failure_;
  bool left_ = false;
};

}  // namespace weft::transports
