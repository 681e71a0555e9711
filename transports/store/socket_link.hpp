// SocketLink: a rank's connection to the store's server, with the thread that listens on it for as long as it lives.
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "base/file_descriptor.hpp"
#include "transports/store/client.hpp"
#include "transports/store/frame_stream.hpp"
#include "transports/store/inbox.hpp"

namespace weft::transports {

class SocketLink final : public StoreLink {
 public:
  // `stream` has joined. Owns the client's inbox, which must outlive the thread.
  SocketLink(FrameStream stream, std::unique_ptr<Inbox> inbox);
  ~SocketLink() override;
  // Once.
  Status start(StoreClient& client);

  void submit(Frame frame) override;
  base::Usage usage() override {
    return {.descriptors = 2, .threads = 1};
  }  // the connection, and what wakes the thread

 private:
  void run(StoreClient& client);
  bool exchange(StoreClient& client);  // false once the server's end is gone
  void server_is_gone(StoreClient& client);
  void wake();

  const std::unique_ptr<Inbox> inbox_;
  base::FileDescriptor wake_;
  std::mutex mutex_;
  FrameStream stream_;  // reading is the thread's business alone; the rest is under mutex_
  bool stopping_ = false;
  bool leaving_ = false;  // this rank says goodbye: the end of the connection is expected
  bool overflowed_ = false;
  bool closing_ = false;  // rank 0 has said goodbye; only the thread looks at it
  std::thread thread_;
};

}  // namespace weft::transports
