/* Communicators: made by an id or by the caller's own all_gather, with options of every version; split and ended. */
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/c_api/support/ranks.h"

enum { RANKS = 4, RECORD_BYTES = 4096 };

static weft_comm_t untouched(void) {
  static int thing;
  return (weft_comm_t)(void*)&thing;
}

/* ---- Options ---- */

static weft_status_t make(const weft_options_t* options, weft_comm_t* comm) {
  weft_unique_id_t id;
  CHECK_OK(weft_get_unique_id(&id));
  return weft_comm_init_rank(comm, 1, id, 0, options);
}

static void refused(const weft_options_t* options, const char* words) {
  weft_comm_t comm = untouched();
  CHECK_REFUSED(make(options, &comm), words);
  CHECK(comm == untouched());
}

static void sizes_and_versions_of_options(void) {
  struct {
    weft_options_t options;
    unsigned char more[16];
  } longer;
  weft_options_t options = WEFT_OPTIONS_INITIALIZER;
  weft_comm_t comm = NULL;
  options.size = 0;
  refused(&options, "options->size is 0, and no version of weft_options_t is; begin with");
  options.size = offsetof(weft_options_t, schedule_files) - 1; /* what came first ends there */
  refused(&options, "options->size is 87");
  options.size = offsetof(weft_options_t, schedule_files);
  CHECK_OK(make(&options, &comm));
  CHECK_OK(weft_comm_destroy(comm));
  options.size = (size_t)-1;
  refused(&options, "options->size is 18446744073709551615");
  options.size = sizeof options;
  options.version = 2;
  refused(&options, "options->version is 2, and this library, 0.1.0, knows 1");

  memset(&longer, 0, sizeof longer);
  options.version = WEFT_OPTIONS_VERSION;
  options.size = sizeof longer;
  longer.options = options;
  CHECK_OK(make(&longer.options, &comm));
  CHECK_OK(weft_comm_destroy(comm));
  longer.more[3] = 1;
  refused(&longer.options, "options: byte 99 of 112 is set, but weft_options_t ends at byte 96 in this library");
}

static void values_of_options(void) {
  weft_options_t options = WEFT_OPTIONS_INITIALIZER;
  weft_comm_t comm = NULL;
  options.timeout_ms = -5;
  refused(&options, "options->timeout_ms is -5; give 1 to 1000000000, or 0");
  options.timeout_ms = 30;
  options.channels = 65;
  refused(&options, "options->channels is 65; give a number from 0");
  options.channels = 2;
  options.progress_thread = (weft_switch_t)2;
  refused(&options, "options->progress_thread is 2; give WEFT_ON");
  options.progress_thread = WEFT_ON;
  options.transports = "carrier pigeon";
  refused(&options, "options->transports is carrier pigeon; give names");
  options.transports = "pigeon";
  refused(&options, "there is no transport 'pigeon'");
  options.transports = "shm";
  options.log_level = "loud";
  refused(&options, "options->log_level is loud; give one of debug");
  options.log_level = "off";
  options.numerics = "exact";
  refused(&options, "options->numerics is exact; give fast or invariant");
  options.numerics = "invariant";
  options.table_file = "tests/no_such_table.json";
  {
    const weft_status_t status = make(&options, &comm);
    CHECK(status != WEFT_SUCCESS && strstr(weft_last_error(NULL), "no_such_table.json") != NULL);
  }
  options.table_file = NULL;
  options.schedule_files = "a.json::b.json";
  refused(&options, "options->schedule_files is a.json::b.json; give names of files");
  options.schedule_files = "tests/no_such_schedule.json";
  {
    const weft_status_t status = make(&options, &comm);
    CHECK(status != WEFT_SUCCESS && strstr(weft_last_error(NULL), "no_such_schedule.json") != NULL);
  }
  options.schedule_files = NULL;
  options.network_interface = "no_such_interface";
  refused(&options, "no_such_interface");
  options.network_interface = "";
  options.host_id = "apart";
  options.algorithms = "all_reduce:0-4k:ring";
  options.topology_file = "tests/no_such_file.json";
  {
    const weft_status_t status = make(&options, &comm);
    CHECK(status != WEFT_SUCCESS && strstr(weft_last_error(NULL), "no_such_file.json") != NULL);
  }
  options.topology_file = NULL;
  CHECK_OK(make(&options, &comm));
  CHECK_OK(weft_comm_destroy(comm));
  CHECK_OK(make(NULL, &comm));
  CHECK_OK(weft_comm_destroy(comm));
}

/* ---- Ids ---- */

static void wrong_ids_and_ranks(void) {
  weft_unique_id_t id, zeros;
  weft_comm_t comm = untouched();
  memset(&zeros, 0, sizeof zeros);
  CHECK_OK(weft_get_unique_id(&id));
  CHECK(memchr(id.internal, 0, sizeof id.internal) != NULL);
  CHECK_REFUSED(weft_comm_init_rank(NULL, 1, id, 0, NULL), "comm is null; pass the address of a weft_comm_t");
  CHECK_REFUSED(weft_comm_init_rank(&comm, 0, id, 0, NULL), "nranks is 0; give 1 to ");
  CHECK_REFUSED(weft_comm_init_rank(&comm, 70000, id, 0, NULL), "nranks is 70000");
  CHECK_REFUSED(weft_comm_init_rank(&comm, 2, id, 2, NULL), "rank is 2; of 2 ranks they are 0 to 1");
  CHECK_REFUSED(weft_comm_init_rank(&comm, 2, id, -1, NULL), "rank is -1");
  CHECK_REFUSED(weft_comm_init_rank(&comm, 1, zeros, 0, NULL), "id was not made by weft_get_unique_id()");
  id.internal[9] = ';';
  memset(id.internal + 10, 'x', sizeof id.internal - 10);
  CHECK_REFUSED(weft_comm_init_rank(&comm, 1, id, 0, NULL), "id is damaged");
  CHECK(comm == untouched());
}

/* ---- The caller's own all_gather ---- */

static unsigned char board[RANKS][RECORD_BYTES];
enum fault { NONE, FAILS, TURNS, LOSES };

struct gathering {
  const struct rank* self;
  enum fault fault;
};

static int all_gather(void* context, const void* mine, void* all, size_t bytes) {
  const struct gathering* gathering = context;
  const struct rank* self = gathering->self;
  int peer;
  if (bytes > RECORD_BYTES) return 1;
  meet(); /* nobody reads any more what was here before */
  memcpy(board[self->rank], mine, bytes);
  meet();
  for (peer = 0; peer < self->size; ++peer) {
    const int from = gathering->fault == TURNS ? (peer + 1) % self->size : peer;
    memcpy((char*)all + (size_t)peer * bytes, board[from], bytes);
  }
  if (gathering->fault == LOSES) memset((char*)all + bytes, 0, bytes);
  return gathering->fault == FAILS ? 42 : 0;
}

static void callbacks(struct rank* self) {
  struct gathering gathering;
  const weft_options_t options = options_of(PATIENT_MS);
  weft_comm_t comm = NULL;
  int rank = -1, size = -1;
  int32_t one = 1, sum = 0;
  gathering.self = self;
  gathering.fault = NONE;
  CHECK_OK(weft_comm_init_callback(&comm, self->size, self->rank, all_gather, &gathering, &options));
  CHECK_OK(weft_comm_rank(comm, &rank));
  CHECK_OK(weft_comm_size(comm, &size));
  CHECK(rank == self->rank && size == self->size);
  CHECK_OK(weft_all_reduce(&one, &sum, 1, WEFT_INT32, WEFT_SUM, comm, NULL));
  CHECK(sum == self->size);
  CHECK_OK(weft_comm_destroy(comm));

  comm = untouched();
  gathering.fault = FAILS;
  CHECK_FAILS(weft_comm_init_callback(&comm, self->size, self->rank, all_gather, &gathering, &options),
              WEFT_ERROR_SYSTEM, "all_gather returned 42 on rank ");
  gathering.fault = TURNS;
  CHECK_FAILS(weft_comm_init_callback(&comm, self->size, self->rank, all_gather, &gathering, &options),
              WEFT_ERROR_MISMATCH, "block 0 of `all` is from rank 1; blocks stand in the order of ranks");
  gathering.fault = LOSES;
  CHECK_FAILS(weft_comm_init_callback(&comm, self->size, self->rank, all_gather, &gathering, &options),
              WEFT_ERROR_MISMATCH, "block 1 of `all` is not what a rank of this version of Weft gave");
  CHECK(weft_last_error_peer(NULL) == 1);
  gathering.fault = NONE;
  CHECK_FAILS(
      weft_comm_init_callback(&comm, self->size + (self->rank == 1), self->rank, all_gather, &gathering, &options),
      WEFT_ERROR_MISMATCH, "all ranks need the same nranks");
  CHECK_REFUSED(weft_comm_init_callback(&comm, self->size, self->rank, NULL, NULL, &options), "all_gather is null");
  CHECK_REFUSED(weft_comm_init_callback(&comm, self->size, self->size, all_gather, &gathering, NULL), "rank is 4");
  CHECK(comm == untouched());
}

/* ---- Splitting ---- */

/* 0 and 2, in turned order; 1 alone; 3 takes no part. */
static void splits(struct rank* self) {
  static const int kColors[RANKS] = {0, 1, 0, WEFT_SPLIT_NOCOLOR};
  static const int kRanks[RANKS] = {1, 0, 0, -1};
  static const int kSizes[RANKS] = {2, 1, 2, -1};
  weft_comm_t child = untouched(), grandchild = NULL;
  int rank = -1, size = -1;
  CHECK_REFUSED(weft_comm_split(self->comm, -2, 0, &child), "color is -2; give 0 or more, or WEFT_SPLIT_NOCOLOR");
  CHECK_REFUSED(weft_comm_split(self->comm, 0, 0, NULL), "newcomm is null");
  CHECK_REFUSED(weft_comm_split(NULL, 0, 0, &child), "comm is null");
  CHECK(child == untouched());
  CHECK_OK(weft_comm_split(self->comm, kColors[self->rank], -self->rank, &child));
  CHECK((child == NULL) == (self->rank == 3));
  if (child != NULL) {
    int32_t mine = 1 << self->rank, sum = 0;
    CHECK_OK(weft_comm_rank(child, &rank));
    CHECK_OK(weft_comm_size(child, &size));
    CHECK_OK(weft_all_reduce(&mine, &sum, 1, WEFT_INT32, WEFT_SUM, child, NULL));
    CHECK(sum == (self->rank == 1 ? 2 : 5));
    CHECK_REFUSED(weft_comm_destroy(self->comm),
                  "communicators split from comm that are still there: 1; destroy them first");
    CHECK_OK(weft_comm_split(child, 0, 0, &grandchild));
    CHECK_REFUSED(weft_comm_destroy(child), "destroy them first");
    CHECK_OK(weft_comm_destroy(grandchild));
    CHECK_OK(weft_comm_destroy(child));
  }
  CHECK(rank == kRanks[self->rank] && size == kSizes[self->rank]);
  CHECK_OK(weft_barrier(self->comm, NULL));
  CHECK_OK(weft_comm_close(self->comm));
}

/* Buffers that the ranks of a host read where they lie. */
static void memory(struct rank* self) {
  enum { COUNT = 100000 };
  void *in = NULL, *out = NULL, *child_memory = NULL;
  weft_comm_t child = NULL;
  int right = 1;
  CHECK_REFUSED(weft_mem_alloc(NULL, 1, self->comm), "buffer is null");
  CHECK_REFUSED(weft_mem_alloc(&in, 0, self->comm), "cannot allocate 0 bytes");
  CHECK_REFUSED(weft_mem_alloc(&in, 1, NULL), "comm is null");
  CHECK_OK(weft_mem_alloc(&in, COUNT * sizeof(int32_t), self->comm));
  CHECK_OK(weft_mem_alloc(&out, COUNT * sizeof(int32_t), self->comm));
  for (int i = 0; i < COUNT; ++i) ((int32_t*)in)[i] = i + self->rank;
  CHECK_OK(weft_all_reduce(in, out, COUNT, WEFT_INT32, WEFT_SUM, self->comm, NULL));
  for (int i = 0; i < COUNT; ++i) right = right && ((int32_t*)out)[i] == RANKS * i + RANKS * (RANKS - 1) / 2;
  CHECK(right);
  CHECK_REFUSED(weft_mem_free((char*)in + 1, self->comm), "is not what weft_mem_alloc gave for comm");
  CHECK_REFUSED(weft_mem_free(NULL, self->comm), "is not what weft_mem_alloc gave for comm");
  CHECK_OK(weft_comm_split(self->comm, self->rank % 2, 0, &child));
  CHECK_OK(weft_mem_alloc(&child_memory, 1, child));
  CHECK_REFUSED(weft_mem_free(in, child), "is not what weft_mem_alloc gave for comm");
  CHECK_OK(weft_comm_destroy(child)); /* with what it has */
  CHECK_OK(weft_mem_free(in, self->comm));
  CHECK_REFUSED(weft_mem_free(in, self->comm), "is not what weft_mem_alloc gave for comm");
}

/* Rank 1 makes a call less. */
static void close_finds_calls_that_differ(struct rank* self) {
  int32_t in = 1, out = 0;
  if (self->rank == 0) CHECK_OK(weft_broadcast(&in, &out, 1, WEFT_INT32, 0, self->comm, NULL));
  CHECK(weft_comm_close(self->comm) == WEFT_ERROR_MISMATCH);
}

int main(void) {
  sizes_and_versions_of_options();
  values_of_options();
  wrong_ids_and_ranks();
  run_ranks(RANKS, 0, callbacks);
  run_ranks(RANKS, PATIENT_MS, splits);
  run_ranks(RANKS, PATIENT_MS, memory);
  run_ranks(2, PATIENT_MS, close_finds_calls_that_differ);
  return verdict();
}
