/* Requests: started, tested, waited for with and without an end, by the right thread only; what becomes of them where
 * the communicator is aborted, times out or is destroyed. */
#define _POSIX_C_SOURCE 200809L
#include "tests/c_api/support/ranks.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { MANY = 20, COUNT = 5000 };

/* Rank 1 calls only after rank 0 has seen that it does not. */
static void a_wait_gives_up_and_goes_on(struct rank* self) {
  weft_request_t request = NULL;
  int done = 7;
  if (self->rank == 0) {
    CHECK_OK(weft_barrier(self->comm, &request));
    CHECK(weft_wait(&request, 0) == WEFT_IN_PROGRESS);
    CHECK(weft_wait(&request, 5) == WEFT_IN_PROGRESS);
    CHECK_OK(weft_test(&request, &done));
    CHECK(done == 0 && request != NULL);
    CHECK_REFUSED(weft_comm_close(self->comm), "is still in flight; wait for it first");
  }
  meet();
  if (self->rank == 1) CHECK_OK(weft_barrier(self->comm, &request));
  CHECK_OK(weft_wait(&request, PATIENT_MS));
  CHECK(request == NULL);
}

static void a_test_finds_the_end(struct rank* self) {
  weft_request_t request = NULL;
  int done = 0;
  CHECK_OK(weft_barrier(self->comm, &request));
  while (!done) CHECK_OK(weft_test(&request, &done));
  CHECK(request == NULL);
}

static void many_are_waited_for_in_any_order(struct rank* self) {
  static int32_t in[2][MANY][COUNT], out[2][MANY][COUNT];
  weft_request_t requests[MANY];
  int i, n;
  for (i = 0; i < MANY; ++i) {
    for (n = 0; n < COUNT; ++n) in[self->rank][i][n] = self->rank + i * n;
    CHECK_OK(
        weft_all_reduce(in[self->rank][i], out[self->rank][i], COUNT, WEFT_INT32, WEFT_SUM, self->comm, &requests[i]));
  }
  for (i = MANY - 1; i >= 0; --i) CHECK_OK(weft_wait(&requests[i], WEFT_UNTIL_DEADLINE));
  for (i = 0; i < MANY; ++i) {
    int right = 1;
    for (n = 0; n < COUNT; ++n) right = right && out[self->rank][i][n] == 1 + 2 * i * n;
    CHECK(right);
  }
}

static void* wait_elsewhere(void* argument) {
  weft_request_t* request = argument;
  int done = 7;
  CHECK_REFUSED(weft_wait(request, 0), "*request was started by another thread");
  CHECK_REFUSED(weft_test(request, &done), "another thread");
  CHECK_REFUSED(weft_request_free(request), "another thread");
  CHECK(done == 7 && *request != NULL);
  return NULL;
}

static void other_threads_and_copies_are_refused(struct rank* self) {
  weft_request_t request = NULL, copy;
  pthread_t thread;
  CHECK_OK(weft_barrier(self->comm, &request));
  CHECK(pthread_create(&thread, NULL, wait_elsewhere, &request) == 0);
  pthread_join(thread, NULL);
  copy = request;
  CHECK_OK(weft_wait(&request, WEFT_UNTIL_DEADLINE));
  CHECK_REFUSED(weft_wait(&copy, 0), "*request is no request, or one that has ended");
  CHECK_OK(weft_barrier(self->comm, &request));
  CHECK_OK(weft_request_free(&request));
  CHECK(request == NULL);
}

static void healthy(struct rank* self) {
  a_wait_gives_up_and_goes_on(self);
  a_test_finds_the_end(self);
  many_are_waited_for_in_any_order(self);
  other_threads_and_copies_are_refused(self);
  CHECK_OK(weft_comm_close(self->comm));
}

static void a_request_outlives_its_communicator(struct rank* self) {
  int32_t in = 1, out = 0;
  weft_request_t request = NULL, dropped = NULL;
  CHECK_OK(weft_all_reduce(&in, &out, 1, WEFT_INT32, WEFT_SUM, self->comm, &request));
  CHECK_OK(weft_barrier(self->comm, &dropped));
  CHECK_OK(weft_comm_destroy(self->comm));
  self->comm = NULL;
  CHECK(out == 2);
  CHECK_OK(weft_wait(&request, 0));
  CHECK_OK(weft_request_free(&dropped));
  CHECK(request == NULL && dropped == NULL);
}

/* Waits a millisecond at a time, as a program with a loop of its own does. */
static weft_status_t wait_in_small_pieces(weft_request_t* request) {
  weft_status_t status;
  do status = weft_wait(request, 1);
  while (status == WEFT_IN_PROGRESS);
  return status;
}

static void short_waits_find_calls_that_do_not_match(struct rank* self) {
  int32_t in = 1, out = 0;
  weft_request_t request = NULL;
  if (self->rank == 0) CHECK_OK(weft_barrier(self->comm, &request));
  if (self->rank == 1) CHECK_OK(weft_all_reduce(&in, &out, 1, WEFT_INT32, WEFT_SUM, self->comm, &request));
  CHECK_FAILS(wait_in_small_pieces(&request), WEFT_ERROR_MISMATCH, "weft_wait: rank 0 called barrier");
  CHECK(strstr(weft_last_error(self->comm), "rank 1 called all_reduce") != NULL);
  CHECK(weft_last_error_peer(self->comm) >= 0); /* whom the rank that found out blames */
  CHECK(request == NULL);
}

static void short_waits_end_by_the_deadline(struct rank* self) {
  weft_request_t request = NULL;
  if (self->rank == 0) {
    CHECK_OK(weft_barrier(self->comm, &request));
    CHECK_FAILS(wait_in_small_pieces(&request), WEFT_ERROR_TIMEOUT, "for rank 1 over shm");
    CHECK(weft_last_error_peer(self->comm) == 1);
    CHECK(request == NULL);
  }
  meet();
}

static void abort_ends_what_is_in_flight(struct rank* self) {
  weft_request_t request = NULL;
  weft_status_t error = WEFT_SUCCESS;
  CHECK_OK(weft_comm_get_async_error(self->comm, &error));
  CHECK(error == WEFT_SUCCESS);
  meet();
  if (self->rank == 0) {
    CHECK_OK(weft_barrier(self->comm, &request));
    CHECK_OK(weft_comm_abort(self->comm, "enough of it"));
    CHECK_FAILS(weft_wait(&request, WEFT_UNTIL_DEADLINE), WEFT_ERROR_ABORTED, "enough of it");
  }
  meet();
  while (error == WEFT_SUCCESS && CHECK_OK(weft_comm_get_async_error(self->comm, &error))) {
  }
  CHECK(error == WEFT_ERROR_ABORTED);
  CHECK(strstr(weft_last_error(self->comm), "rank 0 aborted the communicator: enough of it") != NULL);
  CHECK_FAILS(weft_barrier(self->comm, NULL), WEFT_ERROR_ABORTED, "enough of it");
  CHECK_FAILS(weft_barrier(self->comm, &request), WEFT_ERROR_ABORTED, "enough of it");
  CHECK(request == NULL);
  CHECK_OK(weft_comm_abort(self->comm, NULL));
}

/* The thread that started the operation does not destroy the communicator. */
static void* destroy(void* comm) {
  CHECK_OK(weft_comm_destroy(comm));
  return NULL;
}

static void who_did_not_destroy_it_does_not_know_the_outcome(struct rank* self) {
  weft_request_t request = NULL;
  pthread_t thread;
  CHECK_OK(weft_barrier(self->comm, &request));
  CHECK(pthread_create(&thread, NULL, destroy, self->comm) == 0);
  pthread_join(thread, NULL);
  self->comm = NULL;
  CHECK_FAILS(weft_wait(&request, 0), WEFT_ERROR_ABORTED, "another thread destroyed the communicator");
  CHECK(request == NULL);
}

int main(void) {
  run_ranks(2, PATIENT_MS, healthy);
  run_ranks(2, PATIENT_MS, a_request_outlives_its_communicator);
  run_ranks(2, PATIENT_MS, short_waits_find_calls_that_do_not_match);
  run_ranks(2, 300, short_waits_end_by_the_deadline);
  run_ranks(2, PATIENT_MS, abort_ends_what_is_in_flight);
  run_ranks(2, PATIENT_MS, who_did_not_destroy_it_does_not_know_the_outcome);
  return verdict();
}
