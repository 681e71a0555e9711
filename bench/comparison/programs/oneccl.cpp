// Times oneCCL's collectives on host memory. Started by Intel MPI's mpiexec, which says the rank; ranks meet through a
// file in COMPARE_STORE, a new folder that all of them see.
#include <unistd.h>

#include <fstream>
#include <memory>
#include <oneapi/ccl.hpp>
#include <string>

#include "loop.h"

namespace {

Peer peer;
ccl::communicator* communicator = nullptr;

void run(const Call* call) {
  const auto type = ccl::datatype::float32;
  const auto sum = ccl::reduction::sum;
  const std::size_t block = call->count / static_cast<std::size_t>(peer.ranks);
  switch (call->collective) {
    case ALL_REDUCE:
      ccl::allreduce(call->in, call->out, call->count, type, sum, *communicator).wait();
      break;
    case ALL_GATHER:
      ccl::allgather(call->in, call->out, block, type, *communicator).wait();
      break;
    case REDUCE_SCATTER:
      ccl::reduce_scatter(call->in, call->out, block, type, sum, *communicator).wait();
      break;
    case ALL_TO_ALL:
      ccl::alltoall(call->in, call->out, block, type, *communicator).wait();
      break;
    case BROADCAST:
      ccl::broadcast(call->out, call->count, type, call->root, *communicator).wait();
      break;
    default:
      ccl::barrier(*communicator);
      break;
  }
}

void agree_on_max(double* values, int number) {
  ccl::allreduce(values, values, static_cast<std::size_t>(number), ccl::datatype::float64, ccl::reduction::max,
                 *communicator)
      .wait();
}

// Rank 0 writes its address, whole or not at all; the others wait for it. Who ends them if it does not come is their
// starter.
std::shared_ptr<ccl::kvs> meet(const std::string& file) {
  if (peer.rank == 0) {
    auto store = ccl::create_main_kvs();
    const auto address = store->get_address();
    std::ofstream(file + ".new", std::ios::binary).write(address.data(), static_cast<std::streamsize>(address.size()));
    if (std::rename((file + ".new").c_str(), file.c_str()) != 0) std::exit(1);
    return store;
  }
  ccl::kvs::address_type address;
  while (access(file.c_str(), R_OK) != 0) usleep(1000);
  std::ifstream(file, std::ios::binary).read(address.data(), static_cast<std::streamsize>(address.size()));
  return ccl::create_kvs(address);
}

int number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text != nullptr) return std::atoi(text);
  std::fprintf(stderr, "%s is not set: start this with Intel MPI's mpiexec\n", variable);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv, nullptr);
  peer.rank = number_of("PMI_RANK");
  peer.ranks = number_of("PMI_SIZE");
  peer.run = run;
  peer.agree_on_max = agree_on_max;
  const char* const folder = std::getenv("COMPARE_STORE");
  if (folder == nullptr) return 2;
  ccl::init();
  ccl::communicator all = ccl::create_communicator(peer.ranks, peer.rank, meet(std::string(folder) + "/address"));
  communicator = &all;
  measure_all(&peer, &settings);
  ccl::barrier(all);
  // Some releases wait for each other while they take themselves apart.
  std::fflush(stdout);
  _exit(0);
}
