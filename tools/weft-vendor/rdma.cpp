// One end of a stream of RDMA writes between two hosts, over a reliable connection. Both ends say where they are, are
// told where the other is, one of them writes, the other checks what came:
//
//   out: "at POINT"            in: "join POINT"           out: "joined"
//                              in: "write"                out: "rate GBS US BYTES"
//                              in: "check BYTES"          out: "checked"
//   out: "failed REASON"       end of the input: it ends
//
// What is written are numbers that both ends can tell, so that the one written to can say whether they came.
//
// libibverbs is loaded, not linked: its functions are found by name, those that its header defines call the device's
// driver themselves.
#include <infiniband/verbs.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "answers.hpp"
#include "library.hpp"
#include "rdma_point.hpp"

namespace weft::vendor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytes = std::size_t{8} << 20;  // of the memory that is written
constexpr std::size_t kWords = kBytes / sizeof(std::uint64_t);
constexpr std::size_t kMessage = std::size_t{1} << 20;
constexpr unsigned kOutstanding = 16;
constexpr int kRoundTrips = 200;
constexpr std::uint8_t kResendTimer = 14;     // 67 ms until a packet is sent again
constexpr std::uint8_t kResends = 7;          // the most there can be
constexpr std::uint8_t kNotReadyTimer = 12;   // 0.64 ms until a receiver that was not ready is asked again
constexpr std::uint8_t kNotReadyResends = 7;  // without end
constexpr std::uint8_t kHops = 64;
constexpr auto kStream = std::chrono::milliseconds(300);
constexpr auto kPatience = std::chrono::seconds(3);  // for a write to be confirmed

// What a writer has in its memory.
std::uint64_t word_of(const RdmaPoint& writer, std::size_t position) {
  return (std::uint64_t{writer.sequence} + 1) * 0x9e3779b97f4a7c15 + position;
}

struct Rate {
  double gbs = 0;
  double latency_us = 0;
  std::size_t bytes = 0;  // of the memory, that were written
};

class Verbs {
 public:
  explicit Verbs(const Library& library)
      : list_(library.find<ibv_device**(int*)>("ibv_get_device_list")),
        name_(library.find<const char*(ibv_device*)>("ibv_get_device_name")),
        open_(library.find<ibv_context*(ibv_device*)>("ibv_open_device")),
        query_port_(library.find<int(ibv_context*, std::uint8_t, ibv_port_attr*)>("ibv_query_port")),
        query_gid_(library.find<int(ibv_context*, std::uint8_t, int, ibv_gid*)>("ibv_query_gid")),
        make_domain_(library.find<ibv_pd*(ibv_context*)>("ibv_alloc_pd")),
        register_(library.find<ibv_mr*(ibv_pd*, void*, std::size_t, int)>("ibv_reg_mr")),
        make_completions_(library.find<ibv_cq*(ibv_context*, int, void*, ibv_comp_channel*, int)>("ibv_create_cq")),
        make_queue_(library.find<ibv_qp*(ibv_pd*, ibv_qp_init_attr*)>("ibv_create_qp")),
        modify_(library.find<int(ibv_qp*, ibv_qp_attr*, int)>("ibv_modify_qp")) {}

  // What is wrong; empty if nothing is.
  std::string open(const RdmaPort& port) {
    if (list_ == nullptr || name_ == nullptr || open_ == nullptr || query_port_ == nullptr || query_gid_ == nullptr ||
        make_domain_ == nullptr || register_ == nullptr || make_completions_ == nullptr || make_queue_ == nullptr ||
        modify_ == nullptr)
      return "it is no libibverbs";
    port_ = port;
    if (std::string wrong = find_device(); !wrong.empty()) return wrong;
    if (const int error = query_port_(context_, number(), &attributes_); error != 0) return words("query_port", error);
    if (attributes_.state != IBV_PORT_ACTIVE) return "the port is not active";
    if (query_gid_(context_, number(), port.gid, &own_.gid) != 0) return words("query_gid", errno);
    if (std::string wrong = make_memory(); !wrong.empty()) return wrong;
    return make_queue();
  }

  const RdmaPoint& point() const { return own_; }

  std::string join(const RdmaPoint& peer) {
    peer_ = peer;
    ibv_qp_attr ready{};
    ready.qp_state = IBV_QPS_RTR;
    ready.path_mtu = static_cast<ibv_mtu>(std::min(own_.mtu, peer.mtu));
    ready.dest_qp_num = peer.queue;
    ready.rq_psn = peer.sequence;
    ready.max_dest_rd_atomic = 1;
    ready.min_rnr_timer = kNotReadyTimer;
    ready.ah_attr.port_num = number();
    ready.ah_attr.dlid = peer.lid;
    if (attributes_.link_layer == IBV_LINK_LAYER_ETHERNET || peer.lid == 0) {
      ready.ah_attr.is_global = 1;
      ready.ah_attr.grh.dgid = peer.gid;
      ready.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(port_.gid);
      ready.ah_attr.grh.hop_limit = kHops;
    }
    if (const int error = modify_(queue_, &ready,
                                  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
        error != 0)
      return words("modify_qp to receive", error);
    ibv_qp_attr send{};
    send.qp_state = IBV_QPS_RTS;
    send.timeout = kResendTimer;
    send.retry_cnt = kResends;
    send.rnr_retry = kNotReadyResends;
    send.sq_psn = own_.sequence;
    send.max_rd_atomic = 1;
    const int error = modify_(
        queue_, &send,
        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
    return error != 0 ? words("modify_qp to send", error) : std::string();
  }

  // Round trips first: half of one is the latency. Then a stream.
  std::string write(Rate& rate) {
    for (std::size_t i = 0; i < kWords; ++i) memory_[i] = word_of(own_, i);
    std::vector<double> trips;
    for (int i = 0; i < kRoundTrips; ++i) {
      const auto start = Clock::now();
      if (std::string wrong = post(0, sizeof(std::uint64_t)); !wrong.empty()) return wrong;
      if (std::string wrong = wait_for_one(); !wrong.empty()) return wrong;
      trips.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    std::nth_element(trips.begin(), trips.begin() + kRoundTrips / 2, trips.end());
    rate.latency_us = trips[kRoundTrips / 2] / 2;
    return stream(rate);
  }

  // Whether that many bytes came from the peer as it wrote them.
  std::string check(std::size_t bytes) const {
    if (bytes > kBytes) return "more was to be checked than can be written";
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i)
      if (memory_[i] != word_of(peer_, i))
        return "other bytes came than were written, the first at byte " + std::to_string(8 * i);
    return {};
  }

 private:
  std::string find_device() {
    int count = 0;
    ibv_device** const devices = list_(&count);
    if (devices == nullptr) return words("get_device_list", errno);
    for (int i = 0; i < count && devices[i] != nullptr; ++i) {
      const char* name = name_(devices[i]);
      if (name == nullptr || port_.device != name) continue;
      context_ = open_(devices[i]);
      return context_ == nullptr ? words("open_device", errno) : std::string();
    }
    return "there is no device " + port_.device;
  }

  std::string make_memory() {
    void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return words("memory", errno);
    std::memset(memory, 0, kBytes);
    memory_ = static_cast<std::uint64_t*>(memory);
    domain_ = make_domain_(context_);
    if (domain_ == nullptr) return words("alloc_pd", errno);
    region_ = register_(domain_, memory, kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (region_ == nullptr) return words("reg_mr (see limits.memlock)", errno);
    own_.address = reinterpret_cast<std::uintptr_t>(memory);
    own_.key = region_->rkey;
    return {};
  }

  std::string make_queue() {
    completions_ = make_completions_(context_, 2 * kOutstanding, nullptr, nullptr, 0);
    if (completions_ == nullptr) return words("create_cq", errno);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = completions_;
    wanted.recv_cq = completions_;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = kOutstanding;
    wanted.cap.max_recv_wr = 1;
    wanted.cap.max_send_sge = 1;
    wanted.cap.max_recv_sge = 1;
    queue_ = make_queue_(domain_, &wanted);
    if (queue_ == nullptr) return words("create_qp (a reliable connection)", errno);
    ibv_qp_attr first{};
    first.qp_state = IBV_QPS_INIT;
    first.port_num = number();
    first.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    if (const int error = modify_(queue_, &first, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
        error != 0)
      return words("modify_qp at first", error);
    own_.queue = queue_->qp_num;
    own_.sequence = std::random_device()() & 0xffffff;
    own_.lid = attributes_.lid;
    own_.mtu = attributes_.active_mtu;
    return {};
  }

  std::string post(std::size_t offset, std::size_t bytes) {
    ibv_sge part{};
    part.addr = own_.address + offset;
    part.length = static_cast<std::uint32_t>(bytes);
    part.lkey = region_->lkey;
    ibv_send_wr request{};
    request.sg_list = &part;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = peer_.address + offset;
    request.wr.rdma.rkey = peer_.key;
    ibv_send_wr* refused = nullptr;
    const int error = ibv_post_send(queue_, &request, &refused);
    return error != 0 ? words("post_send", error) : std::string();
  }

  // Until one more write is confirmed. The clock is asked seldom.
  std::string wait_for_one() {
    const auto patience = Clock::now() + kPatience;
    for (unsigned spins = 1;; ++spins) {
      ibv_wc done{};
      const int got = ibv_poll_cq(completions_, 1, &done);
      if (got < 0) return words("poll_cq", errno);
      if (got > 0 && done.status != IBV_WC_SUCCESS)
        return "a write failed with status " + std::to_string(done.status) + " (12: the other side does not answer)";
      if (got > 0) return {};
      if (spins % 1024 == 0 && Clock::now() > patience) return "a write is not confirmed";
    }
  }

  std::string stream(Rate& rate) {
    const auto start = Clock::now();
    unsigned open = 0;
    std::size_t posted = 0;
    std::size_t done = 0;
    while (open > 0 || Clock::now() < start + kStream) {
      for (; open < kOutstanding && Clock::now() < start + kStream; ++open, ++posted)
        if (std::string wrong = post(posted * kMessage % kBytes, kMessage); !wrong.empty()) return wrong;
      if (open == 0) break;
      if (std::string wrong = wait_for_one(); !wrong.empty()) return wrong;
      --open;
      ++done;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    rate.gbs = static_cast<double>(done * kMessage) / seconds / 1e9;
    rate.bytes = std::min(done * kMessage, kBytes);
    return {};
  }

  std::uint8_t number() const { return static_cast<std::uint8_t>(port_.port); }
  static std::string words(const char* what, int error) { return std::string(what) + ": " + std::strerror(error); }

  ibv_device** (*list_)(int*);
  const char* (*name_)(ibv_device*);
  ibv_context* (*open_)(ibv_device*);
  int (*query_port_)(ibv_context*, std::uint8_t, ibv_port_attr*);  // fills less of it than the header has
  int (*query_gid_)(ibv_context*, std::uint8_t, int, ibv_gid*);
  ibv_pd* (*make_domain_)(ibv_context*);
  ibv_mr* (*register_)(ibv_pd*, void*, std::size_t, int);
  ibv_cq* (*make_completions_)(ibv_context*, int, void*, ibv_comp_channel*, int);
  ibv_qp* (*make_queue_)(ibv_pd*, ibv_qp_init_attr*);
  int (*modify_)(ibv_qp*, ibv_qp_attr*, int);

  RdmaPort port_;
  ibv_port_attr attributes_{};
  ibv_context* context_ = nullptr;
  ibv_pd* domain_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_cq* completions_ = nullptr;
  ibv_qp* queue_ = nullptr;
  std::uint64_t* memory_ = nullptr;
  RdmaPoint own_;
  RdmaPoint peer_;
};

void run_near(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof set, &set);  // if it may not run there, it runs where it is
}

// What is answered to one line.
std::string obey(Verbs& verbs, const std::string& line) {
  constexpr std::string_view kJoin = "join ";
  constexpr std::string_view kCheck = "check ";
  std::string wrong = "it was told what nobody understands";
  if (line.starts_with(kJoin)) {
    const std::optional<RdmaPoint> peer = parse_rdma_point(line.substr(kJoin.size()));
    if (peer) wrong = verbs.join(*peer);
    if (wrong.empty()) return "joined";
  } else if (line == "write") {
    Rate rate;
    wrong = verbs.write(rate);
    if (wrong.empty())
      return "rate " + std::to_string(rate.gbs) + " " + std::to_string(rate.latency_us) + " " +
             std::to_string(rate.bytes);
  } else if (line.starts_with(kCheck)) {
    wrong = verbs.check(std::strtoull(line.c_str() + kCheck.size(), nullptr, 10));
    if (wrong.empty()) return "checked";
  }
  return "failed " + wrong;
}

}  // namespace

void write_by_rdma(const std::string& path, const RdmaPort& port, const WriteLine& write) {
  run_near(port.cpu);
  const Library library(path);
  if (!library) {
    write("failed " + library.error() + "\n");
    return;
  }
  Verbs verbs(library);
  const std::string wrong = verbs.open(port);
  if (!write((wrong.empty() ? "at " + to_text(verbs.point()) : "failed " + wrong) + "\n") || !wrong.empty()) return;
  for (std::string line; std::getline(std::cin, line);)
    if (!write(obey(verbs, line) + "\n")) return;
}

}  // namespace weft::vendor
