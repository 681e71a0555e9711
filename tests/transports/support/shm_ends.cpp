// What the tests of shared memory do at both ends of a lane.
#include "tests/transports/support/shm_ends.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/transports/support/harness.hpp"

namespace weft::transports::testing {

std::unique_ptr<Transport> transport(const ShmOptions& options) {
  auto made = make_shm_transport(options);
  EXPECT_TRUE(made.has_value()) << made.status().to_string();
  return std::move(made).value();
}

std::unique_ptr<Endpoint> open(Transport& from, int self, int peer, std::string_view address, std::uint64_t lane,
                               std::unique_ptr<Connection>* connection) {
  auto made = from.connect(self, peer, address, kDeadlineMs);
  if (!made) {
    ADD_FAILURE() << made.error().to_string();
    return nullptr;
  }
  *connection = std::move(made).value();
  auto end = (*connection)->open_lane(lane);
  if (!end) {
    ADD_FAILURE() << end.error().to_string();
    return nullptr;
  }
  return std::move(end).value();
}

bool expect_message(Endpoint& end, std::size_t bytes, std::uint32_t seed) {
  std::vector<std::byte> landing(bytes);
  const void* found = nullptr;
  if (!eventually([&] { return (found = end.receive(bytes, landing.data(), signature(seed))) != nullptr; }))
    return false;
  const std::vector<std::byte> expected = pattern(bytes, seed);
  const bool equal = std::equal(expected.begin(), expected.end(), static_cast<const std::byte*>(found));
  end.release();
  return equal;
}

}  // namespace weft::transports::testing
