// Uses an installed Weft through its one header: a topology, and a collective on one rank.
#include <cstdio>
#include <weft/weft.hpp>

int main() {
  const auto graph = weft::topology::model("dgx-h100");
  if (!graph) return 1;
  const auto gpus = graph->ids(weft::topology::NodeKind::Gpu).size();

  weft::Options options;
  options.rank = 0;
  options.size = 1;
  auto communicator = weft::Communicator::create(options);
  if (!communicator) return std::fprintf(stderr, "%s\n", communicator.error().to_string().c_str()), 1;
  const float in[3] = {1, 2, 3};
  float out[3] = {};
  const auto status = communicator->all_reduce(in, out, 3, weft::DataType::Float32);
  if (!status.ok()) return std::fprintf(stderr, "%s\n", status.to_string().c_str()), 1;
  std::printf("weft %s: %zu GPUs, sum %g %g %g\n", WEFT_VERSION_STRING, gpus, out[0], out[1], out[2]);
}
