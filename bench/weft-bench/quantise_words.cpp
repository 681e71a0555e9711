// All that is asked for must be able to travel quantised; nothing is left out silently.
#include "bench/weft-bench/quantise_words.hpp"

#include <fmt/format.h>

namespace weft::bench {
namespace {

Status wrong(std::string text) { return Status(Code::InvalidArgument, std::move(text)); }

}  // namespace

Status convert_quantise(const Words& words, Arguments& arguments) {
  if (words.quantise.empty()) return {};
  const std::optional<Quantisation> quantisation = parse_quantisation(words.quantise);
  if (!quantisation || *quantisation == Quantisation::None)
    return wrong(fmt::format("--quantise \"{}\" is neither int8 nor e4m3", words.quantise));
  arguments.quantisation = *quantisation;
  if (arguments.schedule_ranks > 0)
    return wrong(
        "--schedule is one algorithm, and a call with --quantise has stages, an all_to_all and an all_gather: leave "
        "one "
        "of them out");
  if (!arguments.algorithm.empty())
    return wrong(
        "--algorithm is not asked with --quantise, whose stages are an all_to_all and an all_gather: set "
        "WEFT_ALGORITHMS for these");
  for (const Kind& kind : arguments.collectives) {
    if (kind != Kind{Collective::AllReduce} && kind != Kind{Collective::AllGather})
      return wrong(
          fmt::format("{} cannot be quantised: --quantise goes with all_reduce and all_gather", to_string(kind)));
  }
  for (const DataType dtype : arguments.dtypes) {
    if (dtype != DataType::Float32 && dtype != DataType::Float16 && dtype != DataType::BFloat16)
      return wrong(
          fmt::format("{} cannot be quantised: --quantise goes with float32, float16 and bfloat16", to_string(dtype)));
  }
  for (const ReduceOp op : arguments.ops) {
    if (op != ReduceOp::Sum && op != ReduceOp::Avg)
      return wrong(
          fmt::format("{} of quantised numbers is not defined: --quantise goes with sum and avg", to_string(op)));
  }
  return {};
}

}  // namespace weft::bench
