// ShmListener: a thread that answers the other processes of the host, so that a peer can fetch its memory while this
// process is anywhere but in Weft. It sleeps in poll().
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "base/usage.hpp"
#include "transports/shm_handshake.hpp"
#include "transports/shm_memory.hpp"
#include "weft/status.hpp"

namespace weft::transports {

class ShmListener {
 public:
  // Called on the listener's thread: the memory that the requester shall get, or why not. Must not block.
  struct Grant {
    ShmReply::Result result = ShmReply::Result::Ok;
    base::FileDescriptor memory;
  };
  using GrantMemory = std::function<Grant(const ShmRequest& request)>;

  static Result<std::unique_ptr<ShmListener>> start(std::string_view socket_name, const Nonce& nonce,
                                                    GrantMemory grant);
  ~ShmListener();             // joins the thread and closes all connections: the peers see the end
  base::Usage usage() const;  // any thread

 private:
  struct Client {
    base::FileDescriptor socket;
    bool ours = false;  // of this user
    base::Deadline greet_by;
    bool greeted = false;
  };
  ShmListener(base::FileDescriptor socket, base::FileDescriptor stop, const Nonce& nonce, SharedMemory::Created probe,
              GrantMemory grant);

  void serve();
  void accept_clients();
  bool full() const;
  // A client that makes room if need be: of another user, or one that has been silent for too long.
  std::vector<Client>::iterator find_droppable();
  bool has_room();
  void make_room();  // only if has_room()
  int next_timeout_ms() const;
  // False when the connection is to be closed.
  bool serve_client(Client& client);
  ShmReply::Result check(const Client& client, const ShmRequest& request) const;

  base::FileDescriptor socket_;
  base::FileDescriptor stop_;
  Nonce nonce_;
  SharedMemory::Created probe_;
  GrantMemory grant_;
  std::vector<Client> clients_;              // of the thread
  std::atomic<int> client_descriptors_ = 0;  // how many they are
  std::thread thread_;
};

}  // namespace weft::transports
