/* Every collective of uneven blocks gives the right bytes on 2, 3 and 4 ranks: blocks of any length, also none, one
 * behind the other and apart, blocking and by a request. */
#include <stdint.h>
#include <string.h>

#include "tests/c_api/support/ranks.h"

enum { MOST_RANKS = 4, MOST = 400, ROOT = 1 };

static int32_t value(int from, int to, size_t index) { return from * 1000000 + to * 10000 + (int32_t)index; }

/* The block that rank `from` has for rank `to`; none from rank 2. */
static size_t length(int from, int to) { return from == 2 ? 0 : (size_t)(3 + 5 * from + 2 * to); }

struct blocks {
  size_t counts[MOST_RANKS];
  size_t offsets[MOST_RANKS];
  int apart; /* else offsets need not be given */
};

static const size_t* given(const struct blocks* blocks) { return blocks->apart ? blocks->offsets : NULL; }

/* One behind the other; or with gaps, the last rank's first. */
static struct blocks lay_out(const size_t* counts, int size, int apart) {
  struct blocks blocks;
  size_t end = 0;
  int i;
  memset(&blocks, 0, sizeof blocks);
  for (i = 0; i < size; ++i) {
    const int rank = apart ? size - 1 - i : i;
    if (apart) end += 2;
    blocks.counts[rank] = counts[rank];
    blocks.offsets[rank] = end;
    end += counts[rank];
  }
  blocks.apart = apart;
  return blocks;
}

struct buffers {
  int32_t in[MOST];
  int32_t out[MOST];
  int32_t wanted[MOST];
};

static void clear(struct buffers* b) {
  size_t i;
  for (i = 0; i < MOST; ++i) b->in[i] = b->out[i] = b->wanted[i] = -1;
}

static void put(int32_t* at, int from, int to, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i) at[i] = value(from, to, i);
}

static void settle(struct buffers* b, weft_status_t status, weft_request_t* request, const char* what) {
  CHECK_OK(status);
  if (request != NULL) CHECK_OK(weft_wait(request, WEFT_UNTIL_DEADLINE));
  CHECK_BYTES(b->out, b->wanted, sizeof b->out, what);
}

/* What each rank gives (to rank 0, say), or gets from `from`. */
static struct blocks row_from_all(int size, int to, int apart) {
  size_t counts[MOST_RANKS];
  int rank;
  for (rank = 0; rank < size; ++rank) counts[rank] = length(rank, to);
  return lay_out(counts, size, apart);
}

static struct blocks row_to_all(int size, int from, int apart) {
  size_t counts[MOST_RANKS];
  int rank;
  for (rank = 0; rank < size; ++rank) counts[rank] = length(from, rank);
  return lay_out(counts, size, apart);
}

static void gathering(struct rank* self, int apart, weft_request_t* request) {
  const int root = self->rank == ROOT;
  struct blocks row = row_from_all(self->size, 0, apart);
  struct buffers b;
  int peer;
  clear(&b);
  put(b.in, self->rank, 0, length(self->rank, 0));
  for (peer = 0; peer < self->size; ++peer) put(b.wanted + row.offsets[peer], peer, 0, row.counts[peer]);
  settle(&b, weft_all_gather_v(b.in, b.out, row.counts, given(&row), WEFT_INT32, self->comm, request), request,
         "all_gather_v");

  clear(&b);
  put(b.in, self->rank, 0, length(self->rank, 0));
  for (peer = 0; root && peer < self->size; ++peer) put(b.wanted + row.offsets[peer], peer, 0, row.counts[peer]);
  settle(&b,
         weft_gather_v(b.in, length(self->rank, 0), root ? b.out : NULL, root ? row.counts : NULL,
                       root ? given(&row) : NULL, WEFT_INT32, ROOT, self->comm, request),
         request, "gather_v");
}

static void scattering(struct rank* self, int apart, weft_request_t* request) {
  const int root = self->rank == ROOT;
  struct blocks row = row_to_all(self->size, ROOT, apart);
  struct buffers b;
  int peer;
  size_t i;
  clear(&b);
  for (peer = 0; root && peer < self->size; ++peer) put(b.in + row.offsets[peer], ROOT, peer, row.counts[peer]);
  put(b.wanted, ROOT, self->rank, row.counts[self->rank]);
  settle(&b,
         weft_scatter_v(root ? b.in : NULL, root ? row.counts : NULL, root ? given(&row) : NULL, b.out,
                        row.counts[self->rank], WEFT_INT32, ROOT, self->comm, request),
         request, "scatter_v");

  clear(&b);
  for (peer = 0; peer < self->size; ++peer) put(b.in + row.offsets[peer], self->rank, peer, row.counts[peer]);
  for (i = 0; i < row.counts[self->rank]; ++i) {
    b.wanted[i] = 0;
    for (peer = 0; peer < self->size; ++peer) b.wanted[i] += value(peer, self->rank, i);
  }
  settle(&b, weft_reduce_scatter_v(b.in, row.counts, given(&row), b.out, WEFT_INT32, WEFT_SUM, self->comm, request),
         request, "reduce_scatter_v");
}

static void exchanging(struct rank* self, int apart, size_t bound, weft_request_t* request) {
  struct blocks sent = row_to_all(self->size, self->rank, apart);
  struct blocks received = row_from_all(self->size, self->rank, apart);
  struct buffers b;
  int peer;
  clear(&b);
  for (peer = 0; peer < self->size; ++peer) {
    put(b.in + sent.offsets[peer], self->rank, peer, sent.counts[peer]);
    put(b.wanted + received.offsets[peer], peer, self->rank, received.counts[peer]);
  }
  settle(&b,
         weft_all_to_all_v(b.in, sent.counts, given(&sent), b.out, received.counts, given(&received), bound, WEFT_INT32,
                           self->comm, request),
         request, "all_to_all_v");
}

static void body(struct rank* self) {
  int apart;
  for (apart = 0; apart < 2; ++apart) {
    weft_request_t request = NULL;
    gathering(self, apart, NULL);
    gathering(self, apart, &request);
    scattering(self, apart, NULL);
    scattering(self, apart, &request);
    exchanging(self, apart, 0, NULL);
    exchanging(self, apart, 0, &request);
    exchanging(self, apart, 30, NULL);
  }
  CHECK_OK(weft_comm_close(self->comm));
}

int main(void) {
  int size;
  for (size = 2; size <= MOST_RANKS; ++size) run_ranks(size, PATIENT_MS, body);
  return verdict();
}
