// How a quantised call is made of ordinary collectives over packed blocks, and what every rank does between them.
//
//   all_reduce   pack; all_to_all: of each part all ranks' blocks come to its owner, which sums them and packs the sum;
//                all_gather of the sums; unpack
//   on hosts     reduce_scatter of the numbers as they are within each host; of the host's sums, the same as above
//                among the ranks that have the same place on their hosts; all_gather within each host; unpack
//   all_gather   pack; all_gather; unpack
//
// Channels share the blocks among them and run through their share in passes, each a whole call of a bounded number of
// blocks: scratch does not grow with the call, and while one channel waits for messages another packs or sums.
#pragma once

#include <memory>

#include "comm/bound_plan.hpp"
#include "weft/choice.hpp"
#include "weft/operation.hpp"
#include "weft/status.hpp"

namespace weft::comm {

class Planner;

// What would run: the choices of the stages in one, whose algorithm is "int8:<all_to_all>+<all_gather>".
Result<Choice> choose_quantised(Planner& planner, const Operation& operation);

// The plan of `rank`, whose hash is that of the stages' schedules. Its choice, call, count and kernels of reduction are
// the caller's to fill.
Result<std::unique_ptr<BoundPlan>> plan_quantised(Planner& planner, const Operation& operation, int rank,
                                                  LaneDirectory& lanes);

}  // namespace weft::comm
