// Ranks that are threads of the test: their stores, transports and communicators.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator_state.hpp"
#include "transports/sim.hpp"
#include "transports/store/store.hpp"
#include "weft/options.hpp"

namespace weft::testing {

struct JobOptions {
  std::string transport = "local";    // local, sim, or a list such as "shm,ucx"
  transports::SimOptions sim;         // of sim
  Options options;                    // rank and size are filled in
  std::vector<std::string> host_ids;  // by rank; empty: all on one host
  // What each transport is put into, for a test that looks at what is asked of it; empty: nothing.
  std::function<std::unique_ptr<transports::Transport>(std::unique_ptr<transports::Transport>)> wrap;
};

// Runs `body` once per rank, each on its own thread, and returns when all have ended.
void run_ranks(int size, const std::function<void(int rank)>& body);

// The same with a communicator over all ranks, on a small two-socket machine model.
void run_job(int size, const JobOptions& job, const std::function<void(comm::CommunicatorState& communicator)>& body);

}  // namespace weft::testing
