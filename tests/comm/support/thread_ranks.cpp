// What the ranks of a job share, and a thread for each.
#include "tests/comm/support/thread_ranks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "transports/local.hpp"
#include "transports/transports.hpp"
#include "weft/graph.hpp"

namespace weft::testing {
namespace {

struct Hubs {
  std::unique_ptr<transports::LocalHub> local;
  std::unique_ptr<transports::SimHub> sim;
};

std::vector<std::unique_ptr<transports::Transport>> transports_of(const JobOptions& job, const Hubs& hubs, int rank,
                                                                  const Options& options) {
  std::vector<std::unique_ptr<transports::Transport>> list;
  if (job.transport == "local") {
    list.push_back(hubs.local->transport(rank));
    return list;
  }
  if (job.transport == "sim") {
    list.push_back(hubs.sim->transport(rank));
    return list;
  }
  Options one = options;
  for (std::size_t at = 0; at < job.transport.size();) {
    const std::size_t comma = std::min(job.transport.find(',', at), job.transport.size());
    one.transports.push_back(job.transport.substr(at, comma - at));
    at = comma + 1;
  }
  auto made = transports::make_transports(one);
  EXPECT_TRUE(made.has_value()) << made.status().to_string();
  if (made.has_value()) list = std::move(*made);
  return list;
}

}  // namespace

void run_ranks(int size, const std::function<void(int rank)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back([&body, rank] { body(rank); });
  for (std::thread& thread : threads) thread.join();
}

void run_job(int size, const JobOptions& job, const std::function<void(comm::CommunicatorState& communicator)>& body) {
  const auto graph = topology::model("cpu-2socket");
  ASSERT_TRUE(graph.has_value()) << graph.status().to_string();
  const auto stores = transports::LocalStoreHub::create(size);
  const Hubs hubs{transports::LocalHub::create(), transports::SimHub::create(job.sim)};
  run_ranks(size, [&](int rank) {
    comm::RuntimeParts parts;
    parts.options = job.options;
    parts.options.rank = rank;
    parts.options.size = size;
    if (!job.host_ids.empty()) parts.options.host_id = job.host_ids[static_cast<std::size_t>(rank)];
    parts.store = stores->store(rank);
    parts.transports = transports_of(job, hubs, rank, parts.options);
    if (job.wrap)
      for (auto& transport : parts.transports) transport = job.wrap(std::move(transport));
    parts.graph = &*graph;
    auto runtime = comm::Runtime::create(std::move(parts));
    ASSERT_TRUE(runtime.has_value()) << runtime.status().to_string();
    auto communicator = comm::CommunicatorState::root(std::move(*runtime));
    ASSERT_TRUE(communicator.has_value()) << communicator.status().to_string();
    body(**communicator);
  });
}

}  // namespace weft::testing
