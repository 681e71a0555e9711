// The loop that times and checks a peer's collectives, the same for MPI, oneCCL and Gloo, in C and in C++. It counts
// bytes, makes batches and takes medians as weft-bench does (docs/benchmarks.md), so that the two may be set beside
// each other.
//
// Rank 0 prints a line for each size: "result COLLECTIVE RANKS BYTES MEDIAN_US MIN_US P99_US BATCHES CALLS WRONG".
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum Collective { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BROADCAST, BARRIER, COLLECTIVES };
enum { PERIOD = 1021, MIN_BATCHES = 5, MAX_BATCHES = 1000, MAX_BATCH_CALLS = 100000 };

// Calls that take longer are made less often: five batches of them take more than a second.
static const double long_call_us = 2e5;

static const char* const collective_names[COLLECTIVES] = {"all_reduce", "all_gather", "reduce_scatter",
                                                          "all_to_all", "broadcast",  "barrier"};

struct Call {
  enum Collective collective;
  uint64_t count;  // elements of the whole buffer
  int root;        // of broadcast
  float* in;
  float* out;
};

struct Peer {
  int rank;
  int ranks;
  void (*prepare)(const struct Call* call);          // before the first call of a size; may be null
  int (*in_place)(enum Collective collective);       // whether input and output are both `out`; null: broadcast alone
  void (*run)(const struct Call* call);              // one call
  void (*agree_on_max)(double* values, int number);  // every rank gets the largest of the ranks' values
};

struct Settings {
  const char* collectives;
  uint64_t min_bytes;
  uint64_t max_bytes;
  uint64_t factor;
  int warmup;
  double budget_us;
};

struct Timing {
  double median_us;
  double min_us;
  double p99_us;
  int batches;
  int calls;
};

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static double between(double low, double value, double high) { return value < low ? low : value > high ? high : value; }

// ---- Arguments: pairs of --name value.

static uint64_t bytes_of(const char* text) { return strtoull(text, NULL, 10); }

static int read_argument(struct Settings* settings, const char* name, const char* value) {
  if (strcmp(name, "--collectives") == 0) return settings->collectives = value, 1;
  if (strcmp(name, "--min-bytes") == 0) return settings->min_bytes = bytes_of(value), 1;
  if (strcmp(name, "--max-bytes") == 0) return settings->max_bytes = bytes_of(value), 1;
  if (strcmp(name, "--factor") == 0) return settings->factor = bytes_of(value), 1;
  if (strcmp(name, "--warmup") == 0) return settings->warmup = atoi(value), 1;
  if (strcmp(name, "--time-budget") == 0) return settings->budget_us = atof(value) * 1e6, 1;
  return 0;
}

// `other` takes what the loop does not know; null if there is nothing of the kind.
static struct Settings read_settings(int argc, char** argv, int (*other)(const char* name, const char* value)) {
  struct Settings settings = {"all_reduce", 8, 64u << 20, 4, 5, 1e5};
  for (int i = 1; i < argc; i += 2) {
    const int known = i + 1 < argc && (read_argument(&settings, argv[i], argv[i + 1]) ||
                                       (other != NULL && other(argv[i], argv[i + 1])));
    if (known) continue;
    fprintf(stderr, "%s: cannot use the argument %s\n", argv[0], argv[i]);
    exit(2);
  }
  if (settings.factor >= 2 && settings.min_bytes > 0 && settings.min_bytes <= settings.max_bytes) return settings;
  fprintf(stderr, "%s: these sizes make no sense\n", argv[0]);
  exit(2);
}

static int is_wanted(const struct Settings* settings, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = settings->collectives; (at = strstr(at, name)) != NULL; at += length)
    if ((at == settings->collectives || at[-1] == ',') && (at[length] == ',' || at[length] == 0)) return 1;
  return 0;
}

// ---- Checking: element i of rank r's input is small and whole, so that every order of additions gives the same sum.

static float value_of(int rank, uint64_t index) { return (float)(((uint64_t)rank * 131 + index) % PERIOD); }

static int has_blocks(enum Collective collective) {
  return collective == ALL_GATHER || collective == REDUCE_SCATTER || collective == ALL_TO_ALL;
}

static int works_in_place(const struct Peer* peer, enum Collective collective) {
  return peer->in_place == NULL ? collective == BROADCAST : peer->in_place(collective);
}

static void fill(const struct Peer* peer, const struct Call* call) {
  const int in_place = works_in_place(peer, call->collective);
  for (uint64_t i = 0; i < call->count; ++i) {
    call->in[i] = value_of(peer->rank, i);
    call->out[i] = in_place ? call->in[i] : -1;
  }
}

// How many elements of the output are not what they must be.
static uint64_t wrong_elements(const struct Peer* peer, const struct Call* call) {
  const uint64_t block = call->count / (uint64_t)peer->ranks;
  const uint64_t own = (uint64_t)peer->rank * block;
  float sums[PERIOD];
  for (int i = 0; i < PERIOD; ++i) {
    sums[i] = 0;
    for (int rank = 0; rank < peer->ranks; ++rank) sums[i] += value_of(rank, (uint64_t)i);
  }
  const uint64_t length = call->collective == REDUCE_SCATTER ? block : call->count;
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < length; ++i) {
    float expected = 0;
    switch (call->collective) {
      case ALL_REDUCE:
        expected = sums[i % PERIOD];
        break;
      case REDUCE_SCATTER:
        expected = sums[(own + i) % PERIOD];
        break;
      case ALL_GATHER:
        expected = value_of((int)(i / block), i % block);
        break;
      case ALL_TO_ALL:
        expected = value_of((int)(i / block), own + i % block);
        break;
      default:
        expected = value_of(call->root, i);
        break;
    }
    wrong += call->out[i] != expected;
  }
  return wrong;
}

// One call with known numbers.
static uint64_t checked_call(const struct Peer* peer, struct Call call) {
  call.root = peer->ranks - 1;
  if (call.collective == BARRIER) return peer->run(&call), 0;
  fill(peer, &call);
  peer->run(&call);
  return wrong_elements(peer, &call);
}

// ---- Timing.

// Microseconds for one of `number` calls; each broadcast has another root, else the root would run ahead.
static double timed(const struct Peer* peer, struct Call* call, int number) {
  const double start = now_us();
  for (int i = 0; i < number; ++i) {
    peer->run(call);
    call->root = (call->root + 1) % peer->ranks;
  }
  return (now_us() - start) / number;
}

// Long calls need one only.
static void warm_up(const struct Peer* peer, struct Call* call, int calls) {
  double first_us = 0;
  if (calls > 0) first_us = timed(peer, call, 1);
  if (calls < 2) return;
  peer->agree_on_max(&first_us, 1);
  if (first_us <= long_call_us) timed(peer, call, calls - 1);
}

// What one call takes, roughly: agreed, so that all ranks make the same number of calls.
static double estimate(const struct Peer* peer, struct Call* call) {
  double call_us = 0;
  for (int number = 1, round = 0; round < 3; ++round) {
    call_us = timed(peer, call, number);
    peer->agree_on_max(&call_us, 1);
    if (call_us < 0.001) call_us = 0.001;
    if (call_us * number >= 300) break;
    number = (int)between(1, 300 / call_us, MAX_BATCH_CALLS);
  }
  return call_us;
}

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left;
  const double b = *(const double*)right;
  return (a > b) - (a < b);
}

// Whether the batches took longer than they may, on any rank: agreed, so that all ranks make the same number of calls.
static int took_too_long(const struct Peer* peer, const double* times, const struct Timing* timing, double budget_us) {
  double spent_us = 0;
  for (int batch = 0; batch < timing->batches; ++batch) spent_us += times[batch] * timing->calls;
  peer->agree_on_max(&spent_us, 1);
  return spent_us > budget_us;
}

// Batches of back-to-back calls, at least 30 us each; a batch counts as its slowest rank saw it. The estimate may be
// far too low, where ranks share cores: whether the time is over is asked after MIN_BATCHES and then whenever their
// number has doubled, so that asking disturbs few.
static struct Timing time_calls(const struct Peer* peer, struct Call call, const struct Settings* settings) {
  static double times[MAX_BATCHES];
  struct Timing timing;
  call.root = 0;
  warm_up(peer, &call, settings->warmup);
  const double call_us = estimate(peer, &call);
  timing.calls = (int)between(1, 30 / call_us + 0.999, MAX_BATCH_CALLS);
  const double fewest = between(1, (double)MIN_BATCHES * long_call_us / call_us, MIN_BATCHES);
  const int planned = (int)between(fewest, settings->budget_us / (timing.calls * call_us), MAX_BATCHES);
  int next_look = MIN_BATCHES;
  for (timing.batches = 0; timing.batches < planned; ++timing.batches) {
    if (timing.batches == next_look) {
      if (took_too_long(peer, times, &timing, settings->budget_us)) break;
      next_look *= 2;
    }
    times[timing.batches] = timed(peer, &call, timing.calls);
  }
  peer->agree_on_max(times, timing.batches);
  qsort(times, (size_t)timing.batches, sizeof times[0], ascending);
  const int last = timing.batches - 1;
  timing.min_us = times[0];
  timing.median_us = times[(int)(0.5 * last + 0.5)];
  timing.p99_us = times[(int)(0.99 * last + 0.5)];
  return timing;
}

// ---- All sizes of all collectives.

static uint64_t count_of(const struct Peer* peer, enum Collective collective, uint64_t bytes) {
  const uint64_t count = bytes / sizeof(float);
  if (!has_blocks(collective)) return count < 1 ? 1 : count;
  const uint64_t block = count / (uint64_t)peer->ranks;
  return (block < 1 ? 1 : block) * (uint64_t)peer->ranks;
}

// The input is not needed between the check and the clock: zeros neither grow nor slow down where a peer works in
// place.
static void measure(const struct Peer* peer, struct Call call, const struct Settings* settings) {
  if (peer->prepare != NULL) peer->prepare(&call);
  double wrong = (double)checked_call(peer, call);
  memset(call.in, 0, call.count * sizeof(float));
  memset(call.out, 0, call.count * sizeof(float));
  const struct Timing timing = time_calls(peer, call, settings);
  wrong += (double)checked_call(peer, call);
  peer->agree_on_max(&wrong, 1);
  if (peer->rank != 0) return;
  const unsigned long long bytes = call.collective == BARRIER ? 0 : call.count * sizeof(float);
  printf("result %s %d %llu %.4f %.4f %.4f %d %d %.0f\n", collective_names[call.collective], peer->ranks, bytes,
         timing.median_us, timing.min_us, timing.p99_us, timing.batches, timing.calls, wrong);
  fflush(stdout);
}

// The largest size is measured even if the steps pass it by.
static uint64_t next_size(const struct Settings* settings, uint64_t size) {
  return size > settings->max_bytes / settings->factor ? settings->max_bytes : size * settings->factor;
}

static float* allocate(uint64_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes) != 0) {
    fprintf(stderr, "%llu bytes of memory are not there\n", (unsigned long long)bytes);
    exit(1);
  }
  memset(memory, 0, bytes);
  return (float*)memory;
}

static void measure_all(const struct Peer* peer, const struct Settings* settings) {
  // A block has at least one element, however small the size.
  const uint64_t bytes = settings->max_bytes + (uint64_t)peer->ranks * sizeof(float) + 4096;
  float* const in = allocate(bytes);
  float* const out = allocate(bytes);
  for (int which = 0; which < COLLECTIVES; ++which) {
    const enum Collective collective = (enum Collective)which;
    if (!is_wanted(settings, collective_names[which])) continue;
    uint64_t last = 0;
    for (uint64_t size = settings->min_bytes;; size = next_size(settings, size)) {
      const uint64_t count = count_of(peer, collective, size);
      const struct Call call = {collective, count, 0, in, out};
      // A size that rounds to the same call as the one before is left out.
      if (count != last) measure(peer, call, settings);
      last = count;
      if (collective == BARRIER || size == settings->max_bytes) break;
    }
  }
  free(in);
  free(out);
}
