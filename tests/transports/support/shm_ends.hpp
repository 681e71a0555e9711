// Transports of shared memory in this process, and the ends of their lanes.
#pragma once

#include <memory>
#include <string_view>

#include "transports/shm.hpp"

namespace weft::transports::testing {

// By default messages are copied when they are posted.
std::unique_ptr<Transport> transport(const ShmOptions& options = {.host_id = {}, .single_copy = false, .note = {}});

std::unique_ptr<Endpoint> open(Transport& from, int self, int peer, std::string_view address, std::uint64_t lane,
                               std::unique_ptr<Connection>* connection);

// Receives `bytes` bytes and compares them with pattern(bytes, seed).
bool expect_message(Endpoint& end, std::size_t bytes, std::uint32_t seed);

}  // namespace weft::transports::testing
