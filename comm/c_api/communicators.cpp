// Communicators of C: made, split, asked, aborted and ended.
#include <fmt/format.h>

#include <memory>

#include "comm/c_api/bootstrap.hpp"
#include "comm/c_api/boundary.hpp"
#include "comm/c_api/options.hpp"

namespace weft::comm::c_api {
namespace {

Status check_output(const char* name, const void* output) {
  return output == nullptr ? null_argument(name, "pass the address of a weft_comm_t") : Status();
}

Status create(const Options& options, weft_comm_t* comm) {
  WEFT_TRY_ASSIGN(Communicator communicator, Communicator::create(options));
  *comm = new weft_comm(std::move(communicator));
  return {};
}

Status split(weft_comm& parent, int color, int key, weft_comm_t* child) {
  WEFT_TRY(check_output("newcomm", child));
  if (color < WEFT_SPLIT_NOCOLOR) {
    return Status(Code::InvalidArgument,
                  fmt::format("color is {}; give 0 or more, or WEFT_SPLIT_NOCOLOR (-1) to take no part", color));
  }
  WEFT_TRY_ASSIGN(Communicator communicator, parent.communicator.split(color, key));
  if (color == WEFT_SPLIT_NOCOLOR) {
    *child = nullptr;
    return {};
  }
  *child = new weft_comm(std::move(communicator), &parent);
  ++parent.children;
  return {};
}

Status destroy(weft_comm& comm) {
  if (comm.children > 0) {
    return Status(
        Code::InvalidArgument,
        fmt::format("communicators split from comm that are still there: {}; destroy them first", comm.children));
  }
  comm.requests.detach();
  if (comm.parent != nullptr) --comm.parent->children;
  end(comm);
  return {};
}

}  // namespace
}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;
using weft::Status;

weft_status_t weft_comm_init(weft_comm_t* comm, const weft_options_t* options) {
  return at_boundary("weft_comm_init", nullptr, [&]() -> Status {
    WEFT_TRY(check_output("comm", comm));
    WEFT_TRY_ASSIGN(const weft_options_t settings, read_options(options));
    WEFT_TRY_ASSIGN(const weft::Options launched, launched_options(settings));
    return create(launched, comm);
  });
}

weft_status_t weft_get_unique_id(weft_unique_id_t* id) {
  return at_boundary("weft_get_unique_id", nullptr, [&]() -> Status {
    if (id == nullptr) return null_argument("id", "pass the address of a weft_unique_id_t");
    const weft_options_t defaults = WEFT_OPTIONS_INITIALIZER;
    WEFT_TRY_ASSIGN(const weft::Options options, configured_options(defaults));
    WEFT_TRY_ASSIGN(*id, make_id(options.interface));
    return {};
  });
}

weft_status_t weft_comm_init_rank(weft_comm_t* comm, int nranks, weft_unique_id_t id, int rank,
                                  const weft_options_t* options) {
  return at_boundary("weft_comm_init_rank", nullptr, [&]() -> Status {
    WEFT_TRY(check_output("comm", comm));
    WEFT_TRY(check_ranks(nranks, rank));
    WEFT_TRY_ASSIGN(const weft::base::Offer offer, read_id(id));
    WEFT_TRY_ASSIGN(const weft_options_t settings, read_options(options));
    WEFT_TRY_ASSIGN(weft::Options complete, configured_options(settings));
    meet_at(offer, nranks, rank, complete);
    return create(complete, comm);
  });
}

weft_status_t weft_comm_init_callback(weft_comm_t* comm, int nranks, int rank, weft_all_gather_callback_t all_gather,
                                      void* context, const weft_options_t* options) {
  return at_boundary("weft_comm_init_callback", nullptr, [&]() -> Status {
    WEFT_TRY(check_output("comm", comm));
    WEFT_TRY(check_ranks(nranks, rank));
    if (all_gather == nullptr) return null_argument("all_gather", "pass a function that brings bytes to all ranks");
    WEFT_TRY_ASSIGN(const weft_options_t settings, read_options(options));
    WEFT_TRY_ASSIGN(weft::Options complete, configured_options(settings));
    const Gathering gathering{.nranks = nranks, .rank = rank, .all_gather = all_gather, .context = context};
    WEFT_TRY_ASSIGN(const weft::base::Offer offer, gather_offer(gathering, complete.interface));
    meet_at(offer, nranks, rank, complete);
    return create(complete, comm);
  });
}

weft_status_t weft_comm_split(weft_comm_t comm, int color, int key, weft_comm_t* newcomm) {
  return collectively("weft_comm_split", comm, [&](weft_comm& parent) { return split(parent, color, key, newcomm); });
}

weft_status_t weft_comm_rank(weft_comm_t comm, int* rank) {
  return with_comm("weft_comm_rank", comm, [&](weft_comm& known) -> Status {
    if (rank == nullptr) return null_argument("rank", "pass the address of an int");
    *rank = known.communicator.rank();
    return {};
  });
}

weft_status_t weft_comm_size(weft_comm_t comm, int* size) {
  return with_comm("weft_comm_size", comm, [&](weft_comm& known) -> Status {
    if (size == nullptr) return null_argument("size", "pass the address of an int");
    *size = known.communicator.size();
    return {};
  });
}

weft_status_t weft_comm_abort(weft_comm_t comm, const char* reason) {
  return with_comm("weft_comm_abort", comm, [&](weft_comm& known) -> Status {
    known.communicator.abort(reason == nullptr ? "no reason given" : reason);
    return {};
  });
}

weft_status_t weft_comm_get_async_error(weft_comm_t comm, weft_status_t* error) {
  return with_comm("weft_comm_get_async_error", comm, [&](weft_comm& known) -> Status {
    if (error == nullptr) return null_argument("error", "pass the address of a weft_status_t");
    const Status health = known.communicator.health();
    *error = health.ok() ? WEFT_SUCCESS : failed("weft_comm_get_async_error", &known, health);
    return {};
  });
}

weft_status_t weft_comm_close(weft_comm_t comm) {
  return collectively("weft_comm_close", comm, [&](weft_comm& known) { return known.communicator.close(); });
}

weft_status_t weft_comm_destroy(weft_comm_t comm) {
  if (comm == nullptr) return WEFT_SUCCESS;
  const weft_status_t bad = at_boundary("weft_comm_destroy", nullptr, [&] { return check_handle(comm); });
  // Of what it fails with, the communicator itself cannot tell any more.
  return bad != WEFT_SUCCESS ? bad : at_boundary("weft_comm_destroy", nullptr, [&] { return destroy(*comm); });
}
