// A library with the interface of libibverbs that connects processes of one machine and writes from one to the other.
// It checks that both ends did what the specification wants: what an end is ready for lies in a file that the other one
// reads, and registered memory becomes a file. Devices: mlx5_0 and mlx5_1, with one active port. WEFT_TEST_RDMA says
// how it plays, WEFT_TEST_RDMA_FOLDER where the files are:
//
//   GBS           every write is confirmed at that rate
//   slow:GBS      mlx5_1 a tenth of it
//   hangs deaf unconnected    in ibv_open_device; writes are never confirmed; there are no reliable connections
//   corrupts      what is written comes with one bit changed
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#undef ibv_query_port
#undef ibv_reg_mr

namespace {

using Clock = std::chrono::steady_clock;

std::string role() {
  const char* text = std::getenv("WEFT_TEST_RDMA");
  return text != nullptr ? text : "1";
}
std::string file_of(const char* kind, std::uint32_t queue) {
  const char* folder = std::getenv("WEFT_TEST_RDMA_FOLDER");
  return std::string(folder != nullptr ? folder : ".") + "/" + kind + std::to_string(queue);
}
// Each process has one queue.
std::uint32_t own_number() { return static_cast<std::uint32_t>(::getpid()) & 0xffffff; }

ibv_device devices[2];
ibv_device* list[] = {&devices[0], &devices[1], nullptr};

// One of each is enough for the one stream of a process.
ibv_context context;
ibv_pd domain;
ibv_mr region;
ibv_cq completions;
ibv_qp queue;
ibv_qp_attr remote;  // as the queue was told
std::uint32_t local_sequence = 0;
unsigned posted = 0;
std::size_t posted_bytes = 0;
Clock::time_point busy_until;
int failure = IBV_WC_SUCCESS;

double rate_gbs() {
  const std::string text = role();
  const bool slow = text.starts_with("slow:");
  if (text == "corrupts") return 1;
  const double gbs = std::atof(text.c_str() + (slow ? 5 : 0));
  return slow && context.device == &devices[1] ? gbs / 10 : gbs;
}

// Into the memory of the other side, `offset` bytes behind where it begins.
bool carry(const ibv_sge& part, std::uint64_t offset) {
  const int file = ::open(file_of("memory", remote.dest_qp_num).c_str(), O_WRONLY);
  std::string bytes(reinterpret_cast<const char*>(part.addr), part.length);
  if (role() == "corrupts") bytes.back() ^= 1;
  const bool all =
      ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes.size());
  ::close(file);
  return all;
}

// If the other side let us do so, as it wrote it down.
bool write_there(const ibv_send_wr& request) {
  std::ifstream file(file_of("queue", remote.dest_qp_num));
  std::uint32_t its_peer = 0;
  std::uint32_t its_sequence = 0;
  std::uint32_t key = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  if (!(file >> its_peer >> its_sequence >> key >> address >> bytes)) return false;
  const std::uint64_t first = request.wr.rdma.remote_addr;
  return its_peer == queue.qp_num && its_sequence == local_sequence && key == request.wr.rdma.rkey &&
         first >= address && first + request.sg_list->length <= address + bytes &&
         carry(*request.sg_list, first - address);
}

int post_send(ibv_qp* on, ibv_send_wr* request, ibv_send_wr** refused) {
  const auto begin = reinterpret_cast<std::uintptr_t>(region.addr);
  const ibv_sge& part = *request->sg_list;
  const bool fine = on == &queue && queue.state == IBV_QPS_RTS && request->num_sge == 1 &&
                    request->opcode == IBV_WR_RDMA_WRITE && (request->send_flags & IBV_SEND_SIGNALED) != 0 &&
                    part.lkey == region.lkey && part.addr >= begin && part.addr + part.length <= begin + region.length;
  if (!fine || posted == 16) {
    *refused = request;
    return fine ? ENOMEM : EINVAL;
  }
  if (!write_there(*request)) failure = IBV_WC_RETRY_EXC_ERR;
  ++posted;
  posted_bytes += part.length;
  const std::chrono::duration<double> seconds(part.length / rate_gbs() / 1e9);
  busy_until = std::max(busy_until, Clock::now()) + std::chrono::duration_cast<Clock::duration>(seconds);
  return 0;
}

// All that were posted are confirmed one after the other, the last one when the link has carried it.
int poll_cq(ibv_cq*, int count, ibv_wc* done) {
  if (posted == 0 || count < 1 || role() == "deaf") return 0;
  const std::chrono::duration<double> left = busy_until - Clock::now();
  if (failure == IBV_WC_SUCCESS &&
      left.count() * rate_gbs() * 1e9 * posted > static_cast<double>(posted_bytes) * (posted - 1))
    return 0;
  posted_bytes -= posted_bytes / posted;
  --posted;
  std::memset(done, 0, sizeof *done);
  done->status = static_cast<ibv_wc_status>(failure);
  return 1;
}

}  // namespace

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  *count = 2;
  return list;
}
const char* ibv_get_device_name(ibv_device* device) { return device == &devices[0] ? "mlx5_0" : "mlx5_1"; }
ibv_context* ibv_open_device(ibv_device* device) {
  while (role() == "hangs") ::pause();
  context.device = device;
  context.ops.post_send = post_send;
  context.ops.poll_cq = poll_cq;
  return &context;
}
int ibv_query_port(ibv_context*, std::uint8_t number, _compat_ibv_port_attr* compatible) {
  auto* port = reinterpret_cast<ibv_port_attr*>(compatible);
  if (number != 1) return EINVAL;
  port->state = IBV_PORT_ACTIVE;
  port->active_mtu = IBV_MTU_4096;
  port->max_mtu = IBV_MTU_4096;
  port->lid = 7;
  port->link_layer = IBV_LINK_LAYER_INFINIBAND;
  return 0;
}
int ibv_query_gid(ibv_context*, std::uint8_t, int index, ibv_gid* gid) {
  std::memset(gid, 0xfe, sizeof *gid);
  errno = EINVAL;
  return index == 0 ? 0 : -1;
}
ibv_pd* ibv_alloc_pd(ibv_context*) { return &domain; }
ibv_mr* ibv_reg_mr(ibv_pd*, void* address, std::size_t bytes, int access) {
  if ((access & IBV_ACCESS_REMOTE_WRITE) == 0 || (access & IBV_ACCESS_LOCAL_WRITE) == 0) return nullptr;
  const int file = ::open(file_of("memory", own_number()).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (::pwrite(file, address, bytes, 0) != static_cast<ssize_t>(bytes) ||
      ::mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return nullptr;
  ::close(file);
  region.addr = address;
  region.length = bytes;
  region.lkey = static_cast<std::uint32_t>(::getpid());
  region.rkey = static_cast<std::uint32_t>(::getpid()) + 1;
  return &region;
}
ibv_cq* ibv_create_cq(ibv_context*, int entries, void*, ibv_comp_channel*, int) {
  completions.context = &context;
  return entries >= 16 ? &completions : nullptr;
}
ibv_qp* ibv_create_qp(ibv_pd*, ibv_qp_init_attr* wanted) {
  errno = EOPNOTSUPP;
  if (role() == "unconnected" || wanted->qp_type != IBV_QPT_RC || wanted->cap.max_send_wr > 16) return nullptr;
  queue.context = &context;
  queue.qp_num = own_number();
  queue.state = IBV_QPS_RESET;
  return &queue;
}
int ibv_modify_qp(ibv_qp* on, ibv_qp_attr* wanted, int mask) {
  constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr int kReceive = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  constexpr int kSend =
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  const bool next = (wanted->qp_state == IBV_QPS_INIT && on->state == IBV_QPS_RESET && mask == kInit &&
                     wanted->port_num == 1 && (wanted->qp_access_flags & IBV_ACCESS_REMOTE_WRITE) != 0) ||
                    (wanted->qp_state == IBV_QPS_RTR && on->state == IBV_QPS_INIT && mask == kReceive &&
                     wanted->ah_attr.dlid == 7 && wanted->ah_attr.port_num == 1) ||
                    (wanted->qp_state == IBV_QPS_RTS && on->state == IBV_QPS_RTR && mask == kSend);
  if (!next) return EINVAL;
  on->state = wanted->qp_state;
  if (on->state == IBV_QPS_RTS) local_sequence = wanted->sq_psn;
  if (on->state != IBV_QPS_RTR) return 0;
  remote = *wanted;
  std::ofstream(file_of("queue", on->qp_num))
      << wanted->dest_qp_num << ' ' << wanted->rq_psn << ' ' << region.rkey << ' '
      << reinterpret_cast<std::uintptr_t>(region.addr) << ' ' << region.length << '\n';
  return 0;
}

}  // extern "C"
