// The choice of each case, as communicators explain it.
#include "bench/weft-bench/explain.hpp"

#include <fmt/format.h>

#include "base/output.hpp"
#include "bench/weft-bench/cases.hpp"
#include "bench/weft-bench/same_arguments.hpp"
#include "bench/weft-bench/workload.hpp"

namespace weft::bench {

Result<Summary> explain(Communicator& communicator, const Arguments& arguments) {
  const auto [in_bytes, out_bytes] = buffer_bytes(arguments, communicator.size());
  WEFT_TRY_ASSIGN(auto in, Buffer::allocate(communicator, in_bytes, arguments.symmetric));
  WEFT_TRY_ASSIGN(auto out, Buffer::allocate(communicator, out_bytes, arguments.symmetric));
  Summary summary;
  for (const Case& what : all_cases(arguments, communicator.size())) {
    const Pattern pattern(what.call.dtype, what.call.op, reduces(what.call.collective), communicator.size());
    const Workload workload(what, {communicator.rank(), communicator.size()}, pattern, {in, out});
    WEFT_TRY_ASSIGN(const Choice choice, communicator.explain(workload.calls().front()));
    if (communicator.rank() == 0 && summary.told.ok()) summary.told = base::write_stdout(choice.to_string());
  }
  WEFT_TRY(tell_all(communicator, summary.told));
  return summary;
}

}  // namespace weft::bench
