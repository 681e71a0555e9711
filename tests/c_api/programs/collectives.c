/* Every collective of equal blocks gives the right bytes on 2, 3 and 4 ranks, blocking and by a request; every type and
 * operator is the one that its number says. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c_api/support/ranks.h"

enum { MOST_RANKS = 4, MOST_COUNT = 3000, ROOT = 1 };

/* What rank `rank` holds at `index` of its input. */
static int32_t value(int rank, size_t index) { return (rank + 1) * 100000 + (int32_t)index; }

/* The same of all ranks, summed. */
static int32_t sum(int size, size_t index) { return size * (size + 1) / 2 * 100000 + size * (int32_t)index; }

struct buffers {
  int32_t in[MOST_RANKS * MOST_COUNT];
  int32_t out[MOST_RANKS * MOST_COUNT];
  int32_t wanted[MOST_RANKS * MOST_COUNT];
};

static struct buffers* fresh(const struct rank* self) {
  struct buffers* b = malloc(sizeof *b);
  size_t i;
  if (b == NULL) abort();
  for (i = 0; i < (size_t)MOST_RANKS * MOST_COUNT; ++i) {
    b->in[i] = value(self->rank, i);
    b->out[i] = -1;
    b->wanted[i] = -1; /* untouched */
  }
  return b;
}

/* Waits for a call that was started, and compares all of `out`, also what the call must leave alone. */
static void settle(struct buffers* b, weft_status_t status, weft_request_t* request, const char* what) {
  CHECK_OK(status);
  if (request != NULL) {
    CHECK(status != WEFT_SUCCESS || *request != NULL);
    CHECK_OK(weft_wait(request, WEFT_UNTIL_DEADLINE));
    CHECK(*request == NULL);
  }
  CHECK_BYTES(b->out, b->wanted, sizeof b->out, what);
  free(b);
}

static void reducing(struct rank* self, size_t count, weft_request_t* request) {
  struct buffers* b = fresh(self);
  size_t i;
  for (i = 0; i < count; ++i) b->wanted[i] = sum(self->size, i);
  settle(b, weft_all_reduce(b->in, b->out, count, WEFT_INT32, WEFT_SUM, self->comm, request), request, "all_reduce");

  b = fresh(self);
  for (i = 0; i < count; ++i) b->out[i] = b->in[i];
  for (i = 0; i < count; ++i) b->wanted[i] = sum(self->size, i);
  settle(b, weft_all_reduce(b->out, b->out, count, WEFT_INT32, WEFT_SUM, self->comm, request), request, "in place");

  b = fresh(self);
  for (i = 0; self->rank == ROOT && i < count; ++i) b->wanted[i] = sum(self->size, i);
  settle(b,
         weft_reduce(b->in, self->rank == ROOT ? b->out : NULL, count, WEFT_INT32, WEFT_SUM, ROOT, self->comm, request),
         request, "reduce");

  b = fresh(self);
  for (i = 0; i < count; ++i) b->wanted[i] = sum(self->size, (size_t)self->rank * count + i);
  settle(b, weft_reduce_scatter(b->in, b->out, count, WEFT_INT32, WEFT_SUM, self->comm, request), request,
         "reduce_scatter");
}

static void moving(struct rank* self, size_t count, weft_request_t* request) {
  const int root = self->rank == ROOT;
  struct buffers* b = fresh(self);
  size_t i;
  int peer;
  for (i = 0; i < count; ++i) b->wanted[i] = value(ROOT, i);
  settle(b, weft_broadcast(root ? b->in : NULL, b->out, count, WEFT_INT32, ROOT, self->comm, request), request,
         "broadcast");

  b = fresh(self);
  for (peer = 0; peer < self->size; ++peer)
    for (i = 0; i < count; ++i) b->wanted[(size_t)peer * count + i] = value(peer, i);
  settle(b, weft_all_gather(b->in, b->out, count, WEFT_INT32, self->comm, request), request, "all_gather");

  b = fresh(self);
  for (peer = 0; peer < self->size; ++peer)
    for (i = 0; i < count; ++i) b->wanted[(size_t)peer * count + i] = value(peer, (size_t)self->rank * count + i);
  settle(b, weft_all_to_all(b->in, b->out, count, WEFT_INT32, self->comm, request), request, "all_to_all");

  b = fresh(self);
  for (peer = 0; root && peer < self->size; ++peer)
    for (i = 0; i < count; ++i) b->wanted[(size_t)peer * count + i] = value(peer, i);
  settle(b, weft_gather(b->in, root ? b->out : NULL, count, WEFT_INT32, ROOT, self->comm, request), request, "gather");

  b = fresh(self);
  for (i = 0; i < count; ++i) b->wanted[i] = value(ROOT, (size_t)self->rank * count + i);
  settle(b, weft_scatter(root ? b->in : NULL, b->out, count, WEFT_INT32, ROOT, self->comm, request), request,
         "scatter");

  b = fresh(self);
  settle(b, weft_barrier(self->comm, request), request, "barrier");
}

/* One and the sums of 2, 3 and 4 ones, as bytes of each type. */
static void types(struct rank* self) {
  static const struct {
    weft_data_type_t datatype;
    size_t bytes;
    uint64_t numbers[MOST_RANKS]; /* 1, 2, 3, 4 as bits */
  } kTypes[] = {
      {WEFT_INT8, 1, {1, 2, 3, 4}},
      {WEFT_UINT8, 1, {1, 2, 3, 4}},
      {WEFT_INT32, 4, {1, 2, 3, 4}},
      {WEFT_UINT32, 4, {1, 2, 3, 4}},
      {WEFT_INT64, 8, {1, 2, 3, 4}},
      {WEFT_UINT64, 8, {1, 2, 3, 4}},
      {WEFT_FLOAT16, 2, {0x3c00, 0x4000, 0x4200, 0x4400}},
      {WEFT_FLOAT32, 4, {0x3f800000, 0x40000000, 0x40400000, 0x40800000}},
      {WEFT_FLOAT64, 8, {0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000, 0x4010000000000000}},
      {WEFT_BFLOAT16, 2, {0x3f80, 0x4000, 0x4040, 0x4080}},
      {WEFT_FLOAT8_E4M3, 1, {0x38, 0x40, 0x44, 0x48}},
      {WEFT_FLOAT8_E5M2, 1, {0x3c, 0x40, 0x42, 0x44}},
      {WEFT_BOOL, 1, {1, 1, 1, 1}},
  };
  size_t t;
  for (t = 0; t < sizeof kTypes / sizeof kTypes[0]; ++t) {
    unsigned char in[8 * 5], out[8 * 5], wanted[8 * 5];
    char name[32];
    size_t i, bytes = 0;
    CHECK_OK(weft_data_type_size(kTypes[t].datatype, &bytes));
    CHECK(bytes == kTypes[t].bytes);
    for (i = 0; i < 5; ++i) { /* the low bytes come first on all machines that Weft runs on */
      memcpy(in + i * bytes, &kTypes[t].numbers[0], bytes);
      memcpy(wanted + i * bytes, &kTypes[t].numbers[self->size - 1], bytes);
    }
    snprintf(name, sizeof name, "type %d", (int)kTypes[t].datatype);
    CHECK_OK(weft_all_reduce(in, out, 5, kTypes[t].datatype, WEFT_SUM, self->comm, NULL));
    CHECK_BYTES(out, wanted, 5 * bytes, name);
  }
}

static int32_t reduced(weft_reduce_op_t op, int size) {
  int32_t result = 3; /* rank 0's */
  int rank;
  for (rank = 1; rank < size; ++rank) {
    const int32_t next = 3 + 4 * rank;
    if (op == WEFT_SUM || op == WEFT_AVG) result += next;
    if (op == WEFT_PROD) result *= next;
    if (op == WEFT_MAX && next > result) result = next;
    if (op == WEFT_MIN && next < result) result = next;
    if (op == WEFT_BIT_AND) result &= next;
    if (op == WEFT_BIT_OR) result |= next;
    if (op == WEFT_BIT_XOR) result ^= next;
  }
  return op == WEFT_AVG ? result / size : result;
}

static void operators(struct rank* self) {
  static const weft_reduce_op_t kOps[] = {WEFT_SUM, WEFT_PROD,    WEFT_MAX,    WEFT_MIN,
                                          WEFT_AVG, WEFT_BIT_AND, WEFT_BIT_OR, WEFT_BIT_XOR};
  size_t i;
  for (i = 0; i < sizeof kOps / sizeof kOps[0]; ++i) {
    const int32_t in = 3 + 4 * self->rank;
    const int32_t wanted = reduced(kOps[i], self->size);
    int32_t out = 0;
    char name[32];
    snprintf(name, sizeof name, "operator %d", (int)kOps[i]);
    CHECK_OK(weft_all_reduce(&in, &out, 1, WEFT_INT32, kOps[i], self->comm, NULL));
    CHECK_BYTES(&out, &wanted, sizeof out, name);
  }
}

static void body(struct rank* self) {
  static const size_t kCounts[] = {0, 1, 5, MOST_COUNT};
  size_t i;
  for (i = 0; i < sizeof kCounts / sizeof kCounts[0]; ++i) {
    weft_request_t request = NULL;
    reducing(self, kCounts[i], NULL);
    reducing(self, kCounts[i], &request);
    moving(self, kCounts[i], NULL);
    moving(self, kCounts[i], &request);
  }
  types(self);
  operators(self);
  CHECK_OK(weft_comm_close(self->comm));
}

int main(void) {
  int size;
  for (size = 2; size <= MOST_RANKS; ++size) run_ranks(size, PATIENT_MS, body);
  return verdict();
}
