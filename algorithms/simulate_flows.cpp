// Max-min fair shares, computed anew for what an event touches; and queues, one message after another.
#include "algorithms/simulate_flows.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "base/assert.hpp"

namespace weft::algorithms {
namespace {

__extension__ using Wide = __int128;  // products of bytes, rates and picoseconds

constexpr std::int64_t kPsPerUs = 1'000'000;
// Rates and remaining bytes are kept in 1/65536 of a byte: what integer division loses stays far below one byte.
constexpr int kFraction = 16;
constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

std::size_t index(int i) { return static_cast<std::size_t>(i); }

struct Due {
  std::int64_t time_ps;
  int flow;
  int version;

  bool operator>(const Due& other) const {
    return std::tie(time_ps, flow, version) > std::tie(other.time_ps, other.flow, other.version);
  }
};
using DueQueue = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

// Max-min fairness by progressive filling: the resource with the smallest fair share fixes the rate of its flows, and
// so on with what is left. Only what is connected to a change through shared resources is computed again; rates
// elsewhere cannot change.
class FairFlows final : public Flows {
 public:
  FairFlows(std::vector<std::int64_t> capacities, int flows) : flows_(index(flows)), resources_(capacities.size()) {
    for (std::size_t r = 0; r < capacities.size(); ++r) resources_[r].capacity = capacities[r] << kFraction;
  }

  void start(int id, std::span<const int> resources, std::uint64_t bytes, std::uint64_t head_bytes,
             std::int64_t now) override {
    WEFT_ASSERT(!resources.empty() && bytes > 0);
    WEFT_ASSERT(now == now_ || dirty_.empty());
    Flow& flow = flows_[index(id)];
    flow.resources = resources;
    flow.remaining = static_cast<std::int64_t>(bytes) << kFraction;
    flow.head_mark = static_cast<std::int64_t>(bytes - head_bytes) << kFraction;
    flow.updated_ps = now;
    flow.rate = 0;
    for (const int r : resources) {
      State& resource = resources_[index(r)];
      if (resource.flows.empty()) resource.busy_since = now;
      resource.flows.push_back(id);
      mark(r);
    }
    now_ = now;
  }

  bool next(std::int64_t limit, Milestone* milestone) override {
    // Rates matter only when time goes on: everything due at this instant comes first, then one settlement for all of
    // it.
    drop_stale();
    if (due_.empty() || due_.top().time_ps > now_) {
      settle();
      drop_stale();
    }
    if (due_.empty() || due_.top().time_ps > limit) return false;
    const int id = due_.top().flow;
    now_ = due_.top().time_ps;
    due_.pop();
    Flow& flow = flows_[index(id)];
    *milestone = {now_, id, flow.head_mark == 0};
    if (flow.head_mark > 0) {
      flow.remaining = flow.head_mark;
      flow.head_mark = 0;
      flow.updated_ps = now_;
      schedule(id);
    } else {
      finish(id);
    }
    return true;
  }

  int binding_resource(int flow) const override { return flows_[index(flow)].binding; }
  std::int64_t busy_ps(int resource) const override { return resources_[index(resource)].busy_ps; }

 private:
  struct Flow {
    std::span<const int> resources;
    std::int64_t remaining = 0;
    std::int64_t head_mark = 0;   // the head is through when this much remains; 0: it is through
    std::int64_t rate = 0;        // 1/65536 bytes per microsecond
    std::int64_t fresh_rate = 0;  // while settling: 0 is "not fixed yet"
    std::int64_t updated_ps = 0;
    int version = 0;
    int binding = -1;
    bool seen = false;
  };
  struct State {
    std::int64_t capacity = 0;
    std::vector<int> flows;
    std::int64_t busy_since = 0;
    std::int64_t busy_ps = 0;
    std::int64_t left = 0;  // while settling
    int open = 0;
    bool dirty = false;
    bool seen = false;
  };

  void drop_stale() {
    while (!due_.empty() && due_.top().version != flows_[index(due_.top().flow)].version) due_.pop();
  }

  void mark(int r) {
    State& resource = resources_[index(r)];
    if (resource.dirty) return;
    resource.dirty = true;
    dirty_.push_back(r);
  }

  void finish(int id) {
    Flow& flow = flows_[index(id)];
    ++flow.version;
    for (const int r : flow.resources) {
      State& resource = resources_[index(r)];
      const auto position = std::find(resource.flows.begin(), resource.flows.end(), id);
      *position = resource.flows.back();
      resource.flows.pop_back();
      if (resource.flows.empty()) resource.busy_ps += now_ - resource.busy_since;
      mark(r);
    }
  }

  void schedule(int id) {
    Flow& flow = flows_[index(id)];
    const Wide amount = flow.remaining - flow.head_mark;
    const Wide wait = (amount * kPsPerUs + flow.rate - 1) / flow.rate;
    due_.push({flow.updated_ps + static_cast<std::int64_t>(wait), id, ++flow.version});
  }

  // Computes rates again wherever something changed since the last call. All changes of one instant are settled
  // together.
  void settle() {
    if (dirty_.empty()) return;
    collect();
    fill();
    for (const int id : touched_flows_) {
      Flow& flow = flows_[index(id)];
      flow.seen = false;
      if (flow.fresh_rate == flow.rate) continue;
      const Wide done = static_cast<Wide>(flow.rate) * (now_ - flow.updated_ps) / kPsPerUs;
      flow.remaining = std::max(flow.remaining - static_cast<std::int64_t>(done), flow.head_mark);
      flow.updated_ps = now_;
      flow.rate = flow.fresh_rate;
      schedule(id);
    }
    for (const int r : touched_resources_) resources_[index(r)].seen = false;
  }

  // touched_*: all that shares resources with the dirty ones, directly or through others.
  void collect() {
    touched_flows_.clear();
    touched_resources_.clear();
    for (const int r : dirty_) {
      resources_[index(r)].dirty = false;
      see(r);
    }
    dirty_.clear();
    for (std::size_t i = 0; i < touched_resources_.size(); ++i) {
      for (const int id : resources_[index(touched_resources_[i])].flows) {
        Flow& flow = flows_[index(id)];
        if (flow.seen) continue;
        flow.seen = true;
        flow.fresh_rate = 0;
        touched_flows_.push_back(id);
        for (const int r : flow.resources) see(r);
      }
    }
  }

  void see(int r) {
    State& resource = resources_[index(r)];
    if (resource.seen) return;
    resource.seen = true;
    resource.left = resource.capacity;
    resource.open = static_cast<int>(resource.flows.size());
    touched_resources_.push_back(r);
  }

  void fill() {
    std::vector<int>& open = open_;
    open.clear();
    for (const int r : touched_resources_)
      if (resources_[index(r)].open > 0) open.push_back(r);
    while (!open.empty()) {
      std::int64_t share = kForever;
      for (const int r : open) share = std::min(share, resources_[index(r)].left / resources_[index(r)].open);
      // All resources with the smallest share fix their flows at once: one by one, rounding would depend on their
      // order.
      narrow_.clear();
      for (const int r : open)
        if (resources_[index(r)].left / resources_[index(r)].open == share) narrow_.push_back(r);
      for (const int r : narrow_)
        for (const int id : resources_[index(r)].flows) fix(id, r, std::max<std::int64_t>(share, 1));
      std::erase_if(open, [this](int r) { return resources_[index(r)].open == 0; });
    }
  }

  void fix(int id, int r, std::int64_t share) {
    Flow& flow = flows_[index(id)];
    if (flow.fresh_rate != 0) {
      // Several resources bind it alike: name the first. A resource that is not of this round has been fixed in an
      // earlier one.
      if (flow.fresh_rate == share) flow.binding = std::min(flow.binding, r);
      return;
    }
    flow.fresh_rate = share;
    flow.binding = r;
    for (const int other : flow.resources) {
      State& resource = resources_[index(other)];
      resource.left = std::max<std::int64_t>(0, resource.left - share);
      --resource.open;
    }
  }

  std::vector<Flow> flows_;
  std::vector<State> resources_;
  DueQueue due_;
  std::int64_t now_ = 0;
  std::vector<int> dirty_, touched_flows_, touched_resources_, open_, narrow_;
};

// Every resource serves its flows one after another in the order of their start; a flow is through when its slowest
// resource has served it. The resources of one flow do not wait for each other, so that a queue at one leaves no gap at
// the others.
class QueuedFlows final : public Flows {
 public:
  QueuedFlows(std::vector<std::int64_t> capacities, int flows)
      : capacities_(std::move(capacities)),
        free_ps_(capacities_.size()),
        busy_ps_(capacities_.size()),
        flows_(index(flows)) {}

  void start(int id, std::span<const int> resources, std::uint64_t bytes, std::uint64_t head_bytes,
             std::int64_t now) override {
    Flow& flow = flows_[index(id)];
    flow = Flow();
    std::int64_t head_ps = 0;
    for (const int r : resources) {
      const std::int64_t begin = std::max(free_ps_[index(r)], now);
      const std::int64_t service = transfer_ps(bytes, capacities_[index(r)]);
      free_ps_[index(r)] = begin + service;
      busy_ps_[index(r)] += service;
      if (begin + service > flow.end_ps) {
        flow.end_ps = begin + service;
        flow.binding = r;
      }
      head_ps = std::max(head_ps, begin + transfer_ps(head_bytes, capacities_[index(r)]));
    }
    if (head_bytes < bytes) due_.push({head_ps, id, 0});
    due_.push({flow.end_ps, id, 1});
  }

  bool next(std::int64_t limit, Milestone* milestone) override {
    if (due_.empty() || due_.top().time_ps > limit) return false;
    const Due due = due_.top();
    due_.pop();
    *milestone = {due.time_ps, due.flow, due.version == 1};
    return true;
  }

  int binding_resource(int flow) const override { return flows_[index(flow)].binding; }
  std::int64_t busy_ps(int resource) const override { return busy_ps_[index(resource)]; }

 private:
  struct Flow {
    std::int64_t end_ps = 0;
    int binding = -1;
  };
  std::vector<std::int64_t> capacities_, free_ps_, busy_ps_;
  std::vector<Flow> flows_;
  DueQueue due_;
};

}  // namespace

std::unique_ptr<Flows> make_flows(Sharing sharing, std::vector<std::int64_t> capacities, int flows) {
  if (sharing == Sharing::MaxMin) return std::make_unique<FairFlows>(std::move(capacities), flows);
  return std::make_unique<QueuedFlows>(std::move(capacities), flows);
}

std::int64_t transfer_ps(std::uint64_t bytes, std::int64_t bytes_per_us) {
  const Wide amount = static_cast<Wide>(bytes) * kPsPerUs;
  return static_cast<std::int64_t>((amount + bytes_per_us - 1) / bytes_per_us);
}

}  // namespace weft::algorithms
