// Group: what a thread has called since weft_group_start().
#pragma once

#include <vector>

#include "comm/c_api/handles.hpp"

namespace weft::comm::c_api {

struct Group {
  int depth = 0;  // of groups in groups; 0: none is open
  std::vector<weft_request_t> requests;

  Group() = default;
  ~Group();  // forgets those of a thread that ends without weft_group_end()
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
};

Group& this_threads_group();

// Where a call puts its request: where its caller wants it, or, if there is none and a group is open, into the group.
// Null: the call blocks.
class RequestPlace final {
 public:
  explicit RequestPlace(weft_request_t* callers);
  ~RequestPlace();
  RequestPlace(const RequestPlace&) = delete;
  RequestPlace& operator=(const RequestPlace&) = delete;
  weft_request_t* get() { return grouped_ ? &own_ : callers_; }

 private:
  weft_request_t* callers_;
  bool grouped_;
  weft_request_t own_ = nullptr;
};

}  // namespace weft::comm::c_api
