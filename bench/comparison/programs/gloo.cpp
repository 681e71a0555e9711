// Times Gloo's collectives over TCP. Each rank is started with COMPARE_RANK, COMPARE_RANKS, COMPARE_STORE (a new folder
// that all ranks see) and COMPARE_INTERFACE in its environment. --algorithm picks the all_reduce: ring and bcube are
// the functions of today, ring_chunked and halving_doubling the older classes, which work in place; "-poll" behind one
// of these makes receivers spin.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "loop.h"

namespace {

Peer peer;
std::string algorithm = "ring";
bool polls = false;
std::shared_ptr<gloo::rendezvous::Context> context;  // of the functions, and of the loop itself
std::shared_ptr<gloo::rendezvous::Context> classes;  // of the older classes
std::unique_ptr<gloo::Algorithm> prepared;

// Whether an older class does this collective.
int is_class(Collective collective) {
  if (collective == REDUCE_SCATTER) return 1;
  return collective == ALL_REDUCE && algorithm != "ring" && algorithm != "bcube";
}
int in_place(Collective collective) { return is_class(collective) || collective == BROADCAST; }

void prepare(const Call* call) {
  prepared.reset();
  if (!is_class(call->collective)) return;
  const std::vector<float*> buffer{call->out};
  const int count = static_cast<int>(call->count);
  if (call->collective == REDUCE_SCATTER) {
    const std::vector<int> blocks(static_cast<std::size_t>(peer.ranks), count / peer.ranks);
    prepared = std::make_unique<gloo::ReduceScatterHalvingDoubling<float>>(classes, buffer, count, blocks);
  } else if (algorithm == "ring_class") {
    prepared = std::make_unique<gloo::AllreduceRing<float>>(classes, buffer, count);
  } else if (algorithm == "ring_chunked") {
    prepared = std::make_unique<gloo::AllreduceRingChunked<float>>(classes, buffer, count);
  } else {
    prepared = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(classes, buffer, count);
  }
}

void all_reduce(const Call* call) {
  gloo::AllreduceOptions options(context);
  options.setInput(call->in, call->count);
  options.setOutput(call->out, call->count);
  options.setReduceFunction(
      [](void* result, const void* a, const void* b, std::size_t count) { gloo::sum<float>(result, a, b, count); });
  options.setAlgorithm(algorithm == "bcube" ? gloo::AllreduceOptions::Algorithm::BCUBE
                                            : gloo::AllreduceOptions::Algorithm::RING);
  gloo::allreduce(options);
}

void all_gather(const Call* call) {
  gloo::AllgatherOptions options(context);
  options.setInput(call->in, call->count / static_cast<std::size_t>(peer.ranks));
  options.setOutput(call->out, call->count);
  gloo::allgather(options);
}

void all_to_all(const Call* call) {
  gloo::AlltoallOptions options(context);
  options.setInput(call->in, call->count);
  options.setOutput(call->out, call->count);
  gloo::alltoall(options);
}

void broadcast(const Call* call) {
  gloo::BroadcastOptions options(context);
  options.setOutput(call->out, call->count);
  options.setRoot(call->root);
  gloo::broadcast(options);
}

void barrier() {
  gloo::BarrierOptions options(context);
  gloo::barrier(options);
}

void run(const Call* call) {
  if (prepared) return prepared->run();
  switch (call->collective) {
    case ALL_REDUCE:
      return all_reduce(call);
    case ALL_GATHER:
      return all_gather(call);
    case ALL_TO_ALL:
      return all_to_all(call);
    case BROADCAST:
      return broadcast(call);
    default:
      return barrier();
  }
}

void agree_on_max(double* values, int number) {
  std::vector<double> largest(static_cast<std::size_t>(number));
  gloo::AllreduceOptions options(context);
  options.setInput(values, static_cast<std::size_t>(number));
  options.setOutput(largest.data(), largest.size());
  options.setReduceFunction(
      [](void* result, const void* a, const void* b, std::size_t count) { gloo::max<double>(result, a, b, count); });
  gloo::allreduce(options);
  std::copy(largest.begin(), largest.end(), values);
}

const char* environment(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text != nullptr) return text;
  std::fprintf(stderr, "%s is not set\n", variable);
  std::exit(2);
}

int read_algorithm(const char* name, const char* value) {
  if (std::string(name) != "--algorithm") return 0;
  algorithm = value;
  polls = algorithm.ends_with("-poll");
  if (polls) algorithm.resize(algorithm.size() - 5);
  const std::vector<std::string> known = {"ring", "bcube", "ring_class", "ring_chunked", "halving_doubling"};
  return std::find(known.begin(), known.end(), algorithm) != known.end();
}

std::shared_ptr<gloo::rendezvous::Context> connect(gloo::rendezvous::Store& store) {
  gloo::transport::tcp::attr attributes;
  attributes.iface = environment("COMPARE_INTERFACE");
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  auto made = std::make_shared<gloo::rendezvous::Context>(peer.rank, peer.ranks);
  made->connectFullMesh(store, device);
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv, read_algorithm);
  peer = {std::atoi(environment("COMPARE_RANK")),
          std::atoi(environment("COMPARE_RANKS")),
          prepare,
          in_place,
          run,
          agree_on_max};
  gloo::rendezvous::FileStore store(environment("COMPARE_STORE"));
  context = classes = connect(store);
  if (polls) {
    gloo::rendezvous::PrefixStore second("polling", store);
    classes = connect(second);
    for (int rank = 0; rank < peer.ranks; ++rank)
      if (rank != peer.rank) classes->getPair(rank)->setSync(true, true);
  }
  measure_all(&peer, &settings);
  barrier();
  // Ranks that end one after the other would complain of closed connections.
  std::fflush(stdout);
  _exit(0);
}
