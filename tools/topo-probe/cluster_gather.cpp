// The ranks of a job meet in the store that Weft starts with.
#include "cluster.hpp"
#include "gather.hpp"
#include "topology/measure/measure.hpp"

namespace weft::topo_probe {
namespace {

Result<topology::Survey> survey_here(bool measure) {
  WEFT_TRY_ASSIGN(topology::Survey survey, topology::survey());
  if (measure) topology::measure(survey);
  return survey;
}

}  // namespace

Result<std::optional<std::vector<topology::cluster::ClusterNode>>> gather_nodes(const Options& options, int timeout_ms,
                                                                                bool measure) {
  // Ranks other than 0 wait a little longer, so that rank 0 is the one that tells.
  constexpr int kLongerMs = 5'000;
  Options bounded = options;
  bounded.timeout_ms = timeout_ms;
  GatherOptions how{base::Deadline::after_ms(timeout_ms), timeout_ms, measure, survey_here};
  WEFT_TRY_ASSIGN(const std::unique_ptr<transports::Store> store, transports::connect_store(bounded));
  if (store->rank() != 0) {
    how.deadline = how.deadline.later_by_ms(kLongerMs);
    WEFT_TRY(answer(*store, bounded, how));
    store->leave();
    return std::optional<std::vector<topology::cluster::ClusterNode>>();
  }
  WEFT_TRY_ASSIGN(std::vector<topology::cluster::ClusterNode> nodes, gather(*store, bounded, how));
  store->leave();
  return std::optional(std::move(nodes));
}

}  // namespace weft::topo_probe
