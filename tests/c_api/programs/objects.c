/* Objects: bytes whose number the receiver does not know come with memory of their own, which the receiver frees. */
#include "tests/c_api/support/ranks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, LONGEST = 300000 };

/* Bytes of an object, as all ranks know them. */
static uint8_t expected[LONGEST];

static void fill(void) {
  size_t i;
  for (i = 0; i < LONGEST; ++i) expected[i] = (uint8_t)(i * 31 + i / 251);
}

/* Checks an object and frees it, twice. */
static void check_and_free(weft_object_t* object, size_t bytes) {
  if (CHECK(object->bytes == bytes) && bytes > 0) CHECK_BYTES(object->data, expected, bytes, "of the object");
  CHECK((object->data == NULL) == (bytes == 0));
  weft_object_free(object);
  CHECK(object->data == NULL && object->bytes == 0 && object->owner == NULL);
  weft_object_free(object);
}

static void messages_of_any_length_are_received(struct rank* self) {
  static const size_t lengths[] = {0, 5, 5000, LONGEST};
  size_t i;
  for (i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
    weft_object_t object;
    weft_received_t received = {9, 9, 9};
    if (self->rank == 0) CHECK_OK(weft_send(expected, lengths[i], WEFT_UINT8, 1, 4, self->comm, NULL));
    if (self->rank != 1) continue;
    CHECK_OK(weft_recv_object(&object, WEFT_ANY_SOURCE, WEFT_ANY_TAG, &received, NULL, self->comm));
    CHECK(received.count == lengths[i] && received.source == 0 && received.tag == 4);
    check_and_free(&object, lengths[i]);
  }
  CHECK_OK(weft_barrier(self->comm, NULL));
}

static void the_root_s_come_to_all_others(struct rank* self) {
  static const size_t lengths[] = {0, 1016, 1017, LONGEST};
  size_t i;
  for (i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
    weft_object_t object = {NULL, 0, NULL};
    const int root = (int)i;
    if (self->rank == root) {
      CHECK_OK(weft_broadcast_object(expected, lengths[i], NULL, root, self->comm));
    } else {
      CHECK_OK(weft_broadcast_object(NULL, 0, &object, root, self->comm));
      check_and_free(&object, lengths[i]);
    }
  }
}

static void those_of_all_come_to_all(struct rank* self) {
  weft_object_t objects[RANKS];
  int rank;
  CHECK_OK(weft_all_gather_objects(expected, (size_t)self->rank * 1000, objects, self->comm));
  for (rank = 0; rank < RANKS; ++rank) check_and_free(&objects[rank], (size_t)rank * 1000);
}

static void what_fails_leaves_the_object_alone(struct rank* self) {
  weft_object_t object = {NULL, 7, NULL};
  weft_received_t received = {9, 9, 9};
  weft_status_t health = WEFT_ERROR_INTERNAL;
  weft_message_options_t options = WEFT_MESSAGE_OPTIONS_INITIALIZER;
  options.timeout_ms = 20;
  CHECK_FAILS(weft_recv_object(&object, self->rank ^ 1, 99, &received, &options, self->comm), WEFT_ERROR_TIMEOUT,
              "weft_recv_object: receive of bytes from rank");
  CHECK_REFUSED(weft_recv_object(NULL, 0, 0, NULL, NULL, self->comm), "weft_recv_object: object is null");
  CHECK_REFUSED(weft_recv_object(&object, RANKS, 0, NULL, NULL, self->comm), "weft_recv_object: peer 4 is not a rank");
  options.timeout_ms = -7;
  CHECK_REFUSED(weft_recv_object(&object, 0, 0, NULL, &options, self->comm), "options->timeout_ms is -7");
  CHECK_REFUSED(weft_recv_object(&object, 0, 0, NULL, NULL, NULL), "comm is null");
  CHECK_REFUSED(weft_broadcast_object(expected, 1, &object, RANKS, self->comm),
                "weft_broadcast_object: root 4 is not a rank");
  CHECK_REFUSED(weft_broadcast_object(NULL, 1, &object, self->rank, self->comm), "data is null");
  CHECK_REFUSED(weft_broadcast_object(expected, 1, NULL, self->rank ^ 1, self->comm), "object is null");
  CHECK_REFUSED(weft_all_gather_objects(NULL, 1, &object, self->comm), "weft_all_gather_objects: data is null");
  CHECK_REFUSED(weft_all_gather_objects(expected, 1, NULL, self->comm), "objects is null");
  CHECK(object.data == NULL && object.bytes == 7 && object.owner == NULL);
  CHECK(received.count == 9 && received.source == 9 && received.tag == 9);
  CHECK_OK(weft_comm_get_async_error(self->comm, &health));
  CHECK(health == WEFT_SUCCESS);
  weft_object_free(NULL);
}

static void healthy(struct rank* self) {
  messages_of_any_length_are_received(self);
  the_root_s_come_to_all_others(self);
  those_of_all_come_to_all(self);
  what_fails_leaves_the_object_alone(self);
  CHECK_OK(weft_comm_close(self->comm));
}

static void an_object_outlives_its_communicator(struct rank* self) {
  weft_object_t objects[2];
  CHECK_OK(weft_all_gather_objects(expected, LONGEST, objects, self->comm));
  CHECK_OK(weft_comm_destroy(self->comm));
  self->comm = NULL;
  check_and_free(&objects[0], LONGEST);
  check_and_free(&objects[1], LONGEST);
}

int main(void) {
  fill();
  run_ranks(RANKS, PATIENT_MS, healthy);
  run_ranks(2, PATIENT_MS, an_object_outlives_its_communicator);
  return verdict();
}
