// What C's handles point to. A handle of something else, or of what has ended, is told by the mark, its first word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weft/communicator.hpp"
#include "weft/weft.h"

namespace weft::comm::c_api {

inline constexpr std::uint32_t kCommunicatorMark = 0x5745'434d;
inline constexpr std::uint32_t kRequestMark = 0x5745'5251;
inline constexpr std::uint32_t kEndedMark = 0x5745'0000;

// Why a call failed last.
struct LastError {
  std::string text;
  int peer = -1;
  const char* constant = nullptr;  // stands for the text where there was no memory for it

  const char* shown() const { return constant != nullptr ? constant : text.c_str(); }
};

// The requests of a communicator. Those that have ended are kept for the next, so that a repeated call allocates
// nothing and a stale handle is found.
class RequestPool final {
 public:
  RequestPool() = default;
  ~RequestPool();
  RequestPool(const RequestPool&) = delete;
  RequestPool& operator=(const RequestPool&) = delete;

  // One that is open, with a Work that is done.
  weft_request* take(weft_comm& comm);
  // Ends it. Its Work is done.
  void give_back(weft_request& request) noexcept;
  // Waits for all that are open, as far as they are this thread's, and leaves them to their owners, with the outcome.
  void detach();

 private:
  std::vector<weft_request*> open_;
  std::vector<std::unique_ptr<weft_request>> ended_;
};

}  // namespace weft::comm::c_api

struct weft_request final {
  std::uint32_t mark = weft::comm::c_api::kRequestMark;
  std::size_t index = 0;      // among the open ones
  weft_comm* comm = nullptr;  // null: it was destroyed, and the outcome is known
  std::thread::id thread;     // that started it
  weft::Work work;
  weft::Status outcome;
  weft_received_t* received = nullptr;  // of a receive: where its caller wants to read what came
};

struct weft_comm final {
  explicit weft_comm(weft::Communicator made, weft_comm* split_from = nullptr)
      : communicator(std::move(made)), parent(split_from) {}

  std::uint32_t mark = weft::comm::c_api::kCommunicatorMark;
  weft::Communicator communicator;
  weft_comm* const parent;
  std::vector<weft::SymmetricMemory> memory;  // of weft_mem_alloc()
  int children = 0;                           // communicators split from it that are still there
  weft::comm::c_api::RequestPool requests;
  std::mutex mutex;  // over last_error
  weft::comm::c_api::LastError last_error;
};

namespace weft::comm::c_api {

// InvalidArgument names the argument "comm". Any pointer to readable memory.
Status check_handle(const weft_comm* comm);
// The same of "*request", which is not null; also where another thread started it.
Status check_handle(const weft_request* request);

// Its outcome, once it is done; and what it received, for whoever wants to read that.
Status wait_for_end(weft_request& request);

// Ends and frees it.
void end(weft_comm& comm);

}  // namespace weft::comm::c_api
