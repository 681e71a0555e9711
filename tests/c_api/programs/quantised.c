/* Quantised calls on 2, 3 and 4 ranks, blocking and by a request. Numbers that are all as large as their block's
 * largest are exact however they travel, so results are compared bit by bit; others are compared with the bound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c_api/support/ranks.h"

enum { MOST_RANKS = 4, COUNT = 1500 };

static const weft_quantisation_t kBoth[] = {WEFT_QUANTISE_INT8, WEFT_QUANTISE_E4M3};

struct buffers {
  float in[COUNT];
  float out[MOST_RANKS * COUNT];
  float wanted[MOST_RANKS * COUNT];
};

/* The same magnitude all over, and signs that all ranks agree on. */
static float value(int rank, size_t index) { return (index % 3 == 0 ? -1.0f : 1.0f) * (float)(rank + 1); }

static struct buffers* fresh(const struct rank* self) {
  struct buffers* b = calloc(1, sizeof *b);
  size_t i;
  if (b == NULL) abort();
  for (i = 0; i < COUNT; ++i) b->in[i] = value(self->rank, i);
  return b;
}

static void settle(struct buffers* b, weft_status_t status, weft_request_t* request, const char* what) {
  CHECK_OK(status);
  if (request != NULL) CHECK_OK(weft_wait(request, WEFT_UNTIL_DEADLINE));
  CHECK_BYTES(b->out, b->wanted, sizeof b->out, what);
  free(b);
}

static void exact(struct rank* self, weft_quantisation_t how, weft_request_t* request) {
  struct buffers* b = fresh(self);
  size_t i;
  int rank;
  for (i = 0; i < COUNT; ++i) b->wanted[i] = value(0, i) * (float)(self->size * (self->size + 1) / 2);
  settle(b, weft_all_reduce_quantised(b->in, b->out, COUNT, WEFT_FLOAT32, WEFT_SUM, how, self->comm, request), request,
         "all_reduce");

  b = fresh(self);
  for (rank = 0; rank < self->size; ++rank)
    for (i = 0; i < COUNT; ++i) b->wanted[(size_t)rank * COUNT + i] = value(rank, i);
  settle(b, weft_all_gather_quantised(b->in, b->out, COUNT, WEFT_FLOAT32, how, self->comm, request), request,
         "all_gather");
}

/* 0, 1, 2 ... of each rank: a block's largest number is its last. */
static void bounded(struct rank* self, weft_quantisation_t how) {
  const double unit = how == WEFT_QUANTISE_INT8 ? 1.0 / 254 : 1.0 / 28;
  struct buffers* b = fresh(self);
  size_t i;
  for (i = 0; i < COUNT; ++i) b->in[i] = (float)i;
  CHECK_OK(weft_all_reduce_quantised(b->in, b->out, COUNT, WEFT_FLOAT32, WEFT_AVG, how, self->comm, NULL));
  for (i = 0; i < COUNT; ++i) {
    const size_t end = (i / 256 + 1) * 256 < COUNT ? (i / 256 + 1) * 256 : COUNT;
    CHECK(fabs((double)b->out[i] - (double)i) <= (unit + 1.0 / 65536) * 2 * (double)(end - 1) + 1e-6);
  }
  free(b);
}

static void refused(struct rank* self) {
  float in[4] = {1, 2, 3, 4};
  float out[4];
  CHECK_REFUSED(weft_all_reduce_quantised(in, out, 4, WEFT_FLOAT32, WEFT_SUM, (weft_quantisation_t)7, self->comm, NULL),
                "quantisation 7 is no weft_quantisation_t");
  CHECK_REFUSED(weft_all_reduce_quantised(in, out, 4, WEFT_INT32, WEFT_SUM, WEFT_QUANTISE_INT8, self->comm, NULL),
                "weft_all_reduce_quantised: int32 cannot be quantised");
  CHECK_REFUSED(weft_all_reduce_quantised(in, out, 4, WEFT_FLOAT32, WEFT_MAX, WEFT_QUANTISE_INT8, self->comm, NULL),
                "max of quantised numbers is not defined");
  CHECK_REFUSED(weft_all_gather_quantised(NULL, out, 1, WEFT_FLOAT32, WEFT_QUANTISE_E4M3, self->comm, NULL),
                "sendbuff is null");
}

static void body(struct rank* self) {
  size_t i;
  for (i = 0; i < sizeof kBoth / sizeof kBoth[0]; ++i) {
    weft_request_t request = NULL;
    exact(self, kBoth[i], NULL);
    exact(self, kBoth[i], &request);
    bounded(self, kBoth[i]);
  }
  refused(self);
  CHECK_OK(weft_comm_close(self->comm));
}

int main(void) {
  int size;
  for (size = 2; size <= MOST_RANKS; ++size) run_ranks(size, PATIENT_MS, body);
  return verdict();
}
