/* Sends, receives and groups: what came is told, groups in any order end, and what is wrong is refused by name. */
#include "tests/c_api/support/ranks.h"

#include <stdint.h>
#include <string.h>

enum { RANKS = 4, LONG = 100000 };

static void blocking_ones_carry_bytes_and_tell_what_came(struct rank* self) {
  int32_t values[3] = {4, 5, 6}, got[5] = {0, 0, 0, 0, 0};
  weft_received_t received = {9, 9, 9};
  if (self->rank == 0) CHECK_OK(weft_send(values, 3, WEFT_INT32, 1, 7, self->comm, NULL));
  if (self->rank == 1) {
    CHECK_OK(weft_recv(got, 5, WEFT_INT32, WEFT_ANY_SOURCE, WEFT_ANY_TAG, &received, self->comm, NULL));
    CHECK(received.source == 0 && received.tag == 7 && received.count == 3);
    CHECK_BYTES(got, values, sizeof(values), "received");
  }
  CHECK_OK(weft_barrier(self->comm, NULL)); /* what others send later is not for this receive */
}

static void requests_end_with_what_came(struct rank* self) {
  static uint8_t out[RANKS][LONG], in[RANKS][LONG];
  uint8_t* const mine = in[self->rank];
  weft_received_t received = {0, 0, 0};
  weft_request_t request = NULL, sent = NULL;
  const int peer = self->rank ^ 1;
  memset(out[self->rank], self->rank + 1, LONG);
  CHECK_OK(weft_recv(mine, LONG, WEFT_UINT8, peer, 3, &received, self->comm, &request));
  CHECK_OK(weft_send(out[self->rank], LONG, WEFT_UINT8, peer, 3, self->comm, &sent));
  CHECK_OK(weft_wait(&request, WEFT_UNTIL_DEADLINE));
  CHECK_OK(weft_wait(&sent, WEFT_UNTIL_DEADLINE));
  CHECK(received.count == LONG && received.source == peer && received.tag == 3);
  CHECK(mine[0] == peer + 1 && mine[LONG - 1] == peer + 1);
}

/* Blocking calls in an order in which nobody could go on. */
static void a_group_cannot_wait_for_itself(struct rank* self) {
  static uint8_t out[RANKS][LONG], in[RANKS][RANKS][LONG];
  int32_t one = 1, sum = 0;
  weft_received_t received[RANKS];
  int i;
  memset(out[self->rank], 10 + self->rank, LONG);
  CHECK_OK(weft_group_start());
  for (i = 0; i < RANKS; ++i) CHECK_OK(weft_send(out[self->rank], LONG, WEFT_UINT8, i, 0, self->comm, NULL));
  CHECK_OK(weft_group_start());
  CHECK_OK(weft_all_reduce(&one, &sum, 1, WEFT_INT32, WEFT_SUM, self->comm, NULL));
  CHECK_OK(weft_group_end());
  for (i = RANKS - 1; i >= 0; --i)
    CHECK_OK(weft_recv(in[self->rank][i], LONG, WEFT_UINT8, i, 0, &received[i], self->comm, NULL));
  CHECK_OK(weft_group_end());
  CHECK(sum == RANKS);
  for (i = 0; i < RANKS; ++i) {
    CHECK(received[i].source == i && received[i].count == LONG);
    CHECK(in[self->rank][i][0] == 10 + i && in[self->rank][i][LONG - 1] == 10 + i);
  }
}

static void what_does_not_fit_is_still_there(struct rank* self) {
  int64_t values[4] = {1, 2, 3, 4}, got[4] = {0, 0, 0, 0};
  if (self->rank == 2) CHECK_OK(weft_send(values, 4, WEFT_INT64, 3, 1, self->comm, NULL));
  if (self->rank != 3) return;
  CHECK_REFUSED(weft_recv(got, 2, WEFT_INT64, 2, 1, NULL, self->comm, NULL),
                "tag 1 has 32 bytes, but the buffer holds 16 (2 int64)");
  CHECK_OK(weft_group_start());
  CHECK_REFUSED(weft_recv(got, 3, WEFT_INT64, 2, 1, NULL, self->comm, NULL), "the buffer holds 24 (3 int64)");
  CHECK_OK(weft_recv(got, 4, WEFT_INT64, 2, 1, NULL, self->comm, NULL));
  CHECK_OK(weft_group_end());
  CHECK_BYTES(got, values, sizeof(values), "received by the longer buffer");
}

static void wrong_arguments_are_named(struct rank* self) {
  int32_t value = 0;
  weft_request_t request = NULL;
  CHECK_REFUSED(weft_send(&value, 1, WEFT_INT32, RANKS, 0, self->comm, NULL), "weft_send: peer 4 is not a rank");
  CHECK_REFUSED(weft_recv(&value, 1, WEFT_INT32, 0, -2, NULL, self->comm, NULL), "give 0 or more, or WEFT_ANY_TAG");
  CHECK_REFUSED(weft_send(&value, 1, WEFT_INT32, 0, WEFT_ANY_TAG, self->comm, &request), "weft_send: tag is -1");
  CHECK_REFUSED(weft_recv(NULL, 1, WEFT_INT32, 0, 0, NULL, self->comm, NULL), "weft_recv: the buffer is null");
  CHECK_REFUSED(weft_send(&value, 1, (weft_data_type_t)77, 0, 0, self->comm, NULL), "datatype");
  CHECK_REFUSED(weft_send(&value, 1, WEFT_INT32, 0, 0, NULL, NULL), "comm is null");
  CHECK_REFUSED(weft_group_end(), "no group is open on this thread");
  CHECK(request == NULL);
}

static void one_whose_own_time_is_over_is_withdrawn_and_all_goes_on(struct rank* self) {
  static uint8_t out[LONG];
  int32_t value = 8, got = 0;
  weft_received_t received = {9, 9, 9};
  weft_request_t request = NULL;
  weft_status_t health = WEFT_ERROR_INTERNAL;
  weft_message_options_t options = WEFT_MESSAGE_OPTIONS_INITIALIZER;
  options.timeout_ms = 20;
  if (self->rank == 0) {
    CHECK_FAILS(weft_recv_with(&got, 1, WEFT_INT32, 1, 77, &received, &options, self->comm, NULL), WEFT_ERROR_TIMEOUT,
                "weft_recv_with: receive of up to 1 int32 from rank 1, tag 77: nothing matched within 20 ms, and it is "
                "withdrawn");
    CHECK_FAILS(weft_send_with(out, LONG, WEFT_UINT8, 1, 78, &options, self->comm, NULL), WEFT_ERROR_TIMEOUT,
                "weft_send_with: send of 100000 uint8 to rank 1, tag 78: nothing matched within 20 ms");
    CHECK_OK(weft_recv_with(&got, 1, WEFT_INT32, 1, 77, &received, &options, self->comm, &request));
    CHECK_FAILS(weft_wait(&request, WEFT_UNTIL_DEADLINE), WEFT_ERROR_TIMEOUT, "weft_wait: receive of up to 1 int32");
    CHECK(request == NULL);
    CHECK_OK(weft_group_start());
    CHECK_OK(weft_recv_with(&got, 1, WEFT_INT32, 1, 77, &received, &options, self->comm, NULL));
    CHECK_FAILS(weft_group_end(), WEFT_ERROR_TIMEOUT, "weft_group_end: receive of up to 1 int32");
    CHECK(got == 0 && received.source == 9 && received.tag == 9 && received.count == 9);
    CHECK_OK(weft_comm_get_async_error(self->comm, &health));
    CHECK(health == WEFT_SUCCESS);
  }
  CHECK_OK(weft_barrier(self->comm, NULL));
  options.timeout_ms = PATIENT_MS;
  if (self->rank == 0) CHECK_OK(weft_send_with(&value, 1, WEFT_INT32, 1, 77, &options, self->comm, NULL));
  if (self->rank == 1) {
    CHECK_OK(weft_recv_with(&got, 1, WEFT_INT32, 0, 77, &received, NULL, self->comm, NULL));
    CHECK(got == value && received.source == 0 && received.count == 1);
  }
}

static void options_of_other_versions_are_taken_or_named(struct rank* self) {
  struct {
    weft_message_options_t known;
    int64_t more; /* of a version to come */
  } newer = {WEFT_MESSAGE_OPTIONS_INITIALIZER, 0};
  int32_t value = 3, got = 0;
  if (self->rank != 0) return;
  newer.known.size = sizeof newer;
  CHECK_OK(weft_send_with(&value, 1, WEFT_INT32, 0, 6, &newer.known, self->comm, NULL));
  CHECK_OK(weft_recv_with(&got, 1, WEFT_INT32, 0, 6, NULL, &newer.known, self->comm, NULL));
  CHECK(got == value);
  newer.more = 1;
  CHECK_REFUSED(weft_send_with(&value, 1, WEFT_INT32, 0, 6, &newer.known, self->comm, NULL),
                "weft_send_with: options: byte 16 of 24 is set, but weft_message_options_t ends at byte 16");
  newer.known.size = 3;
  CHECK_REFUSED(weft_send_with(&value, 1, WEFT_INT32, 0, 6, &newer.known, self->comm, NULL), "options->size is 3");
  newer.known.size = sizeof newer.known;
  newer.known.version = 9;
  CHECK_REFUSED(weft_recv_with(&got, 1, WEFT_INT32, 0, 6, NULL, &newer.known, self->comm, NULL),
                "options->version is 9");
  newer.known.version = WEFT_MESSAGE_OPTIONS_VERSION;
  newer.known.timeout_ms = -2;
  CHECK_REFUSED(weft_recv_with(&got, 1, WEFT_INT32, 0, 6, NULL, &newer.known, self->comm, NULL),
                "options->timeout_ms is -2; give 0 or more, or WEFT_UNTIL_DEADLINE");
}

static void many_buffers_are_reduced_in_one_call(struct rank* self) {
  static int32_t long_in[RANKS][LONG], long_out[RANKS][LONG];
  int32_t one = self->rank, two[2] = {1, 10};
  const void* in[3];
  void* out[3];
  size_t counts[3] = {1, 2, LONG};
  int i;
  for (i = 0; i < LONG; ++i) long_in[self->rank][i] = i + self->rank;
  in[0] = out[0] = &one;
  in[1] = out[1] = two;
  in[2] = long_in[self->rank];
  out[2] = long_out[self->rank];
  CHECK_OK(weft_all_reduce_list(in, out, counts, 3, WEFT_INT32, WEFT_SUM, self->comm));
  CHECK(one == 6 && two[0] == RANKS && two[1] == 10 * RANKS);
  CHECK(long_out[self->rank][0] == 6 && long_out[self->rank][LONG - 1] == 6 + RANKS * (LONG - 1));
  CHECK_OK(weft_all_reduce_list(NULL, NULL, NULL, 0, WEFT_INT32, WEFT_SUM, self->comm));
  CHECK_REFUSED(weft_all_reduce_list(in, NULL, counts, 3, WEFT_INT32, WEFT_SUM, self->comm), "recvbuffs is null");
  out[1] = NULL;
  CHECK_REFUSED(weft_all_reduce_list(in, out, counts, 3, WEFT_INT32, WEFT_SUM, self->comm),
                "weft_all_reduce_list: buffer 1: recvbuff is null");
  CHECK_REFUSED(weft_all_reduce_list(in, out, counts, 1, WEFT_INT32, (weft_reduce_op_t)99, self->comm), "op");
}

static void healthy(struct rank* self) {
  blocking_ones_carry_bytes_and_tell_what_came(self);
  requests_end_with_what_came(self);
  a_group_cannot_wait_for_itself(self);
  what_does_not_fit_is_still_there(self);
  wrong_arguments_are_named(self);
  one_whose_own_time_is_over_is_withdrawn_and_all_goes_on(self);
  options_of_other_versions_are_taken_or_named(self);
  many_buffers_are_reduced_in_one_call(self);
  CHECK_OK(weft_comm_close(self->comm));
}

static void a_group_gives_its_first_failure(struct rank* self) {
  int32_t value = 0;
  if (self->rank == 0) {
    CHECK_OK(weft_group_start());
    CHECK_OK(weft_recv(&value, 1, WEFT_INT32, 1, 0, NULL, self->comm, NULL));
    CHECK_OK(weft_recv(&value, 1, WEFT_INT32, 1, 1, NULL, self->comm, NULL));
    CHECK_FAILS(weft_group_end(), WEFT_ERROR_TIMEOUT, "weft_group_end: receive of up to 1 int32 from rank 1, tag 0");
  }
  meet();
}

static void a_group_outlives_a_communicator(struct rank* self) {
  int32_t value = self->rank, got = -1;
  weft_received_t received = {0, 0, 0};
  CHECK_OK(weft_group_start());
  CHECK_OK(weft_send(&value, 1, WEFT_INT32, 1 - self->rank, 0, self->comm, NULL));
  CHECK_OK(weft_recv(&got, 1, WEFT_INT32, 1 - self->rank, 0, &received, self->comm, NULL));
  CHECK_OK(weft_comm_destroy(self->comm));
  self->comm = NULL;
  CHECK(got == 1 - self->rank && received.count == 1);
  CHECK_OK(weft_group_end());
}

int main(void) {
  run_ranks(RANKS, PATIENT_MS, healthy);
  run_ranks(2, 300, a_group_gives_its_first_failure);
  run_ranks(2, PATIENT_MS, a_group_outlives_a_communicator);
  return verdict();
}
