// A rank that runs collectives, or passes messages round a ring, until one fails, for tests that kill one of its peers.
// Prints "running" after the first, and at the end "failed: <code>, peer <rank>, <microseconds since the failing call
// began>: <message>". Exit 0: it failed with PeerLost.
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <vector>

#include "weft/weft.hpp"

namespace {

// The collective named `name`, of `count` floats for each rank.
weft::Operation operation(std::string_view name, const float* in, float* out, std::uint64_t count) {
  if (name == "all_to_all") return weft::all_to_all(in, out, count, weft::DataType::Float32);
  if (name == "barrier") return weft::barrier();
  return weft::all_reduce(in, out, count, weft::DataType::Float32);
}

// To the next rank and from the one before, in one group.
weft::Status pass_on(weft::Communicator& communicator, const float* in, float* out, std::uint64_t count) {
  const int rank = communicator.rank(), size = communicator.size();
  const std::array<weft::Message, 2> both{weft::send(in, count, weft::DataType::Float32, (rank + 1) % size),
                                          weft::receive(out, count, weft::DataType::Float32, (rank + size - 1) % size)};
  return communicator.run(both);
}

int run(std::string_view name, std::uint64_t count) {
  auto options = weft::Options::from_environment();
  if (!options) return std::fprintf(stderr, "%s\n", options.error().to_string().c_str()), 2;
  auto communicator = weft::Communicator::create(*options);
  if (!communicator) return std::fprintf(stderr, "%s\n", communicator.error().to_string().c_str()), 2;
  const auto elements = count * static_cast<std::uint64_t>(communicator->size());
  const std::vector<float> in(elements, 1.0f);
  std::vector<float> out(elements);
  const auto call = operation(name, in.data(), out.data(), count);
  for (bool first = true;; first = false) {
    const auto status =
        name == "messages" ? pass_on(*communicator, in.data(), out.data(), count) : communicator->run(call);
    if (!status.ok()) {
      std::printf("failed: %s, peer %d: %s\n", std::string(to_string(status.code())).c_str(), status.peer(),
                  std::string(status.message()).c_str());
      return status.code() == weft::Code::PeerLost ? 0 : 1;
    }
    if (first) std::printf("running\n"), std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc > 1 ? argv[1] : "all_reduce", argc > 2 ? std::stoull(argv[2]) : 1024);
}
