/* Wrong arguments are refused on the rank that gives them, in words that name the argument, and nothing is lost: the
 * communicator goes on. */
#include <stdint.h>
#include <string.h>

#include "tests/c_api/support/ranks.h"

enum { COUNT = 8 };

static float in[4 * COUNT], out[4 * COUNT];
static const size_t counts[2] = {COUNT, COUNT}, offsets[2] = {0, COUNT};

static void handles(weft_comm_t comm) {
  static uint64_t zeros[64];
  const weft_comm_t stranger = (weft_comm_t)zeros;
  weft_request_t request = (weft_request_t)zeros;
  int number = 7;
  CHECK_REFUSED(weft_all_reduce(in, out, COUNT, WEFT_FLOAT32, WEFT_SUM, NULL, &request),
                "weft_all_reduce: comm is null; make a communicator by weft_comm_init(");
  CHECK(request == NULL);
  CHECK_REFUSED(weft_barrier(NULL, NULL), "weft_barrier: comm is null");
  CHECK_REFUSED(weft_barrier(stranger, NULL), "comm is no communicator, or one that was destroyed");
  CHECK_REFUSED(weft_barrier((weft_comm_t)((char*)zeros + 1), NULL), "comm is no communicator");
  CHECK_REFUSED(weft_comm_rank(stranger, &number), "comm is no communicator");
  CHECK_REFUSED(weft_comm_size(NULL, &number), "comm is null");
  CHECK_REFUSED(weft_comm_rank(comm, NULL), "rank is null");
  CHECK_REFUSED(weft_comm_size(comm, NULL), "size is null");
  CHECK_REFUSED(weft_comm_abort(NULL, "reason"), "comm is null");
  CHECK_REFUSED(weft_comm_get_async_error(comm, NULL), "error is null");
  CHECK_REFUSED(weft_comm_close(stranger), "comm is no communicator");
  CHECK_REFUSED(weft_comm_destroy(stranger), "comm is no communicator");
  CHECK_OK(weft_comm_destroy(NULL));
  CHECK(strstr(weft_last_error(stranger), "comm is no communicator") != NULL);
  CHECK(weft_last_error_peer(stranger) == -1);
  CHECK(number == 7);
}

static void requests(void) {
  static uint64_t zeros[64];
  weft_request_t stranger = (weft_request_t)zeros, none = NULL;
  int done = 7;
  CHECK_REFUSED(weft_wait(NULL, 0), "request is null");
  CHECK_REFUSED(weft_wait(&none, -2), "timeout_ms is -2; give 0 or more, or WEFT_UNTIL_DEADLINE (-1)");
  CHECK_REFUSED(weft_wait(&stranger, 0), "*request is no request, or one that has ended");
  CHECK_REFUSED(weft_test(NULL, &done), "request is null");
  CHECK_REFUSED(weft_test(&none, NULL), "done is null");
  CHECK_REFUSED(weft_test(&stranger, &done), "*request is no request");
  CHECK_REFUSED(weft_request_free(NULL), "request is null");
  CHECK_REFUSED(weft_request_free(&stranger), "*request is no request");
  CHECK(stranger != NULL && done == 7);
  CHECK_OK(weft_wait(&none, 0));
  CHECK_OK(weft_test(&none, &done));
  CHECK(done == 1);
  CHECK_OK(weft_request_free(&none));
}

static void types(weft_comm_t comm) {
  weft_request_t request = NULL;
  CHECK_REFUSED(weft_all_reduce(in, out, COUNT, (weft_data_type_t)77, WEFT_SUM, comm, NULL),
                "weft_all_reduce: datatype 77 is no weft_data_type_t; they are WEFT_INT8 (0) to WEFT_FLOAT8_E5M2 (11)");
  CHECK_REFUSED(weft_all_gather(in, out, COUNT, (weft_data_type_t)-1, comm, &request), "datatype -1 is no");
  CHECK_REFUSED(weft_all_reduce(in, out, COUNT, WEFT_FLOAT32, (weft_reduce_op_t)5, comm, NULL),
                "this communicator has no such operator");
  CHECK_REFUSED(weft_reduce(in, out, COUNT, WEFT_FLOAT32, (weft_reduce_op_t)-4, 0, comm, NULL), "op -4 is no");
  CHECK_REFUSED(weft_all_reduce(in, out, COUNT, WEFT_FLOAT32, WEFT_BIT_AND, comm, &request),
                "weft_all_reduce: bit_and is not defined for float32");
  CHECK_REFUSED(weft_reduce_scatter(in, out, COUNT, WEFT_BOOL, WEFT_AVG, comm, NULL), "avg is not defined for bool");
  CHECK_REFUSED(weft_reduce_scatter_v(in, counts, NULL, out, WEFT_FLOAT64, WEFT_BIT_OR, comm, NULL),
                "bit_or is not defined for float64");
  CHECK(request == NULL);
}

static void buffers(weft_comm_t comm, int rank) {
  CHECK_REFUSED(weft_all_reduce(NULL, out, COUNT, WEFT_FLOAT32, WEFT_SUM, comm, NULL),
                "weft_all_reduce: sendbuff is null, but rank ");
  CHECK_REFUSED(weft_all_reduce(in, NULL, COUNT, WEFT_FLOAT32, WEFT_SUM, comm, NULL), "recvbuff is null, but rank ");
  CHECK_REFUSED(weft_all_gather(in, NULL, COUNT, WEFT_FLOAT32, comm, NULL), "receives 64 bytes");
  CHECK_REFUSED(weft_reduce_scatter(NULL, out, COUNT, WEFT_FLOAT32, WEFT_SUM, comm, NULL), "has 64 bytes to give");
  CHECK_REFUSED(weft_all_to_all(NULL, out, COUNT, WEFT_FLOAT32, comm, NULL), "sendbuff is null");
  CHECK_REFUSED(weft_broadcast(NULL, out, COUNT, WEFT_FLOAT32, rank, comm, NULL), "sendbuff is null");
  CHECK_REFUSED(weft_reduce(in, NULL, COUNT, WEFT_FLOAT32, WEFT_SUM, rank, comm, NULL), "recvbuff is null");
  CHECK_REFUSED(weft_gather(in, NULL, COUNT, WEFT_FLOAT32, rank, comm, NULL), "recvbuff is null");
  CHECK_REFUSED(weft_scatter(NULL, out, COUNT, WEFT_FLOAT32, rank, comm, NULL), "sendbuff is null");
  CHECK_REFUSED(weft_all_reduce(in, in + 1, COUNT, WEFT_FLOAT32, WEFT_SUM, comm, NULL),
                "sendbuff (of 32 bytes) and recvbuff (of 32) overlap but are not in place");
}

static void numbers(weft_comm_t comm) {
  const size_t huge = (size_t)-1;
  CHECK_REFUSED(weft_broadcast(in, out, COUNT, WEFT_FLOAT32, 2, comm, NULL),
                "weft_broadcast: root 2 is not a rank of this communicator of 2");
  CHECK_REFUSED(weft_reduce(in, out, COUNT, WEFT_FLOAT32, WEFT_SUM, -1, comm, NULL), "root -1 is not a rank");
  CHECK_REFUSED(weft_gather(in, out, COUNT, WEFT_FLOAT32, 2, comm, NULL), "root 2 is not a rank");
  CHECK_REFUSED(weft_scatter(in, out, COUNT, WEFT_FLOAT32, 99, comm, NULL), "root 99 is not a rank");
  CHECK_REFUSED(weft_gather_v(in, COUNT, out, counts, NULL, WEFT_FLOAT32, 2, comm, NULL), "root 2 is not a rank");
  CHECK_REFUSED(weft_scatter_v(in, counts, NULL, out, COUNT, WEFT_FLOAT32, -7, comm, NULL), "root -7 is not a rank");
  CHECK_REFUSED(weft_all_reduce(in, out, huge, WEFT_FLOAT32, WEFT_SUM, comm, NULL),
                "count 18446744073709551615 is more than the ");
  CHECK_REFUSED(weft_all_to_all(in, out, huge, WEFT_FLOAT32, comm, NULL), "is more than the ");
}

static void blocks(weft_comm_t comm, int rank) {
  const size_t huge[2] = {COUNT, (size_t)-1}, zeros[2] = {0, 0}, fewer[2] = {1, 1};
  CHECK_REFUSED(weft_all_gather_v(in, out, NULL, NULL, WEFT_FLOAT32, comm, NULL),
                "weft_all_gather_v: recvcounts is null; give the elements of each rank's block");
  CHECK_REFUSED(weft_reduce_scatter_v(in, NULL, NULL, out, WEFT_FLOAT32, WEFT_SUM, comm, NULL), "sendcounts is null");
  CHECK_REFUSED(weft_all_to_all_v(in, NULL, NULL, out, counts, NULL, 0, WEFT_FLOAT32, comm, NULL),
                "sendcounts is null");
  CHECK_REFUSED(weft_all_to_all_v(in, counts, NULL, out, NULL, NULL, 0, WEFT_FLOAT32, comm, NULL),
                "recvcounts is null");
  CHECK_REFUSED(weft_gather_v(in, COUNT, out, NULL, NULL, WEFT_FLOAT32, rank, comm, NULL), "recvcounts is null");
  CHECK_REFUSED(weft_scatter_v(in, NULL, NULL, out, COUNT, WEFT_FLOAT32, rank, comm, NULL), "sendcounts is null");
  CHECK_REFUSED(weft_all_gather_v(in, out, huge, NULL, WEFT_FLOAT32, comm, NULL),
                "recv block 1 has 18446744073709551615 elements at offset 8, which is beyond");
  CHECK_REFUSED(weft_reduce_scatter_v(in, huge, NULL, out, WEFT_FLOAT32, WEFT_SUM, comm, NULL), "send block 1 has ");
  CHECK_REFUSED(weft_all_gather_v(in, out, counts, zeros, WEFT_FLOAT32, comm, NULL), "recv block 0 and 1 overlap");
  CHECK_REFUSED(weft_all_gather_v(NULL, out, counts, offsets, WEFT_FLOAT32, comm, NULL), "sendbuff is null");
  CHECK_REFUSED(weft_all_to_all_v(in, counts, NULL, out, fewer, NULL, 0, WEFT_FLOAT32, comm, NULL),
                "sends 8 elements to itself but wants to receive 1");
  CHECK_REFUSED(weft_all_to_all_v(in, counts, NULL, out, counts, NULL, COUNT - 1, WEFT_FLOAT32, comm, NULL),
                "a block has 8 elements, but the bound is 7");
}

/* What this rank did wrong is not heard of on the other one, and both go on. */
static void body(struct rank* self) {
  int one = 1, two = 0;
  if (self->rank == 1) {
    handles(self->comm);
    requests();
    types(self->comm);
    buffers(self->comm, self->rank);
    numbers(self->comm);
    blocks(self->comm, self->rank);
    CHECK(strstr(weft_last_error(self->comm), "but the bound is 7") != NULL);
    CHECK(weft_last_error_peer(self->comm) == -1);
  }
  meet();
  if (self->rank == 0) CHECK(strcmp(weft_last_error(self->comm), "") == 0);
  CHECK_OK(weft_all_reduce(&one, &two, 1, WEFT_INT32, WEFT_SUM, self->comm, NULL));
  CHECK(two == 2);
  CHECK_OK(weft_comm_close(self->comm));
}

static void free_functions(void) {
  size_t bytes = 7;
  int version = 0;
  CHECK(strcmp(weft_last_error(NULL), "") == 0);
  CHECK(weft_last_error_peer(NULL) == -1);
  CHECK_REFUSED(weft_get_version(NULL), "version is null");
  CHECK_REFUSED(weft_get_unique_id(NULL), "id is null");
  CHECK_REFUSED(weft_data_type_size(WEFT_INT8, NULL), "bytes is null");
  CHECK_REFUSED(weft_data_type_size((weft_data_type_t)12, &bytes), "datatype 12 is no weft_data_type_t");
  CHECK(bytes == 7);
  CHECK_OK(weft_get_version(&version));
  CHECK(version == WEFT_VERSION_CODE);
  CHECK(strcmp(weft_error_string(WEFT_SUCCESS), "ok") == 0);
  CHECK(strcmp(weft_error_string(WEFT_ERROR_PEER_LOST), "peer lost") == 0);
  CHECK(strcmp(weft_error_string(WEFT_ERROR_INTERNAL), "internal error") == 0);
  CHECK(strcmp(weft_error_string(WEFT_IN_PROGRESS), "in progress") == 0);
  CHECK(strcmp(weft_error_string((weft_status_t)12), "unknown status") == 0);
  CHECK(strcmp(weft_error_string((weft_status_t)-1), "unknown status") == 0);
}

int main(void) {
  free_functions();
  run_ranks(2, PATIENT_MS, body);
  return verdict();
}
