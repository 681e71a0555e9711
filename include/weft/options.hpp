// Options: how a communicator is made. Every field can be set by hand; from_environment() fills them from the launcher.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/status.hpp"
#include "weft/types.hpp"

namespace weft {

inline constexpr int kDefaultTimeoutMs = 600'000;

struct Options {
  // Who and where. rank -1 means "not set".
  int rank = -1;
  int size = -1;
  std::string rendezvous_host;  // where rank 0's store listens; several, with commas, are tried in turn
  int rendezvous_port = 0;      // the first port tried; the store may take one of the next `port_tries` - 1
  int port_tries = 1;
  std::string job_id;  // ranks of another job are refused; WEFT_JOB, else from the launcher
  std::string source;  // where rank and size came from: "explicit", "WEFT", "torchrun", "openmpi", "mpich",
                       // "slurm", "single"

  // How. Set by WEFT_* variables (docs/configuration.md has the table).
  int timeout_ms = kDefaultTimeoutMs;   // WEFT_TIMEOUT in seconds
  std::vector<std::string> transports;  // WEFT_TRANSPORTS "shm,ucx": allowed, in order of preference; empty: all
  std::string algorithms;               // WEFT_ALGORITHMS "all_reduce:0-4k:recursive_doubling;all_reduce:4k-:ring"
  std::string table_file;  // WEFT_TABLE: what weft-bench --tune and --calibrate measured here; rank 0's is used by all
  std::vector<std::string> schedule_files;  // WEFT_SCHEDULES "a.json:b.json": schedules besides the built-in
                                            // algorithms; rank 0's are used by all
  std::string host_id;                      // WEFT_HOST_ID separates ranks of one machine, never joins those of two
  std::string topology_file;                // WEFT_TOPOLOGY: read instead of probing
  std::string interface;                    // WEFT_INTERFACE: "eth0", or rails for UCX: "eth0,eth1"
  bool single_copy = true;             // WEFT_SINGLE_COPY=0: long messages within a host go through shared memory only
  Numerics numerics = Numerics::Fast;  // WEFT_NUMERICS: fast or invariant; rank 0's is that of all
  int channels = 0;                    // WEFT_CHANNELS; 0: chosen with the algorithm
  bool progress_thread = false;        // WEFT_PROGRESS_THREAD=1: a helper drives operations between waits
  std::string log_level = "warn";      // WEFT_LOG: debug, info, warn, error, off

  // The launcher's variables, in this order; the first complete source wins: WEFT_RANK/WEFT_SIZE/WEFT_RENDEZVOUS
  // (host:port), torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), Open MPI (OMPI_COMM_WORLD_*, address by PMIx),
  // MPICH (PMI_*), Slurm (inside a step). None at all: one rank. An incomplete or contradictory source is
  // InvalidArgument and names what is missing.
  static Result<Options> from_environment();
};

}  // namespace weft
