// A transport around another one, for tests that change or look at what is asked of it: JobOptions::wrap.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "transports/transport.hpp"

namespace weft::testing {

class ForwardingTransport : public transports::Transport {
 public:
  explicit ForwardingTransport(std::unique_ptr<transports::Transport> inner) : inner_(std::move(inner)) {}
  std::string_view name() const override { return inner_->name(); }
  std::size_t max_message() const override { return inner_->max_message(); }
  bool crosses_hosts() const override { return inner_->crosses_hosts(); }
  std::string address() const override { return inner_->address(); }
  bool reaches(std::string_view peer_address) override { return inner_->reaches(peer_address); }
  Result<std::unique_ptr<transports::Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                                          int deadline_ms) override {
    return inner_->connect(self_rank, peer_rank, peer_address, deadline_ms);
  }
  void poll() override { inner_->poll(); }
  bool passive() const override { return inner_->passive(); }

 private:
  std::unique_ptr<transports::Transport> inner_;
};

}  // namespace weft::testing
