/* Threads, a barrier of theirs, and counted complaints. */
#define _POSIX_C_SOURCE 200809L
#include "tests/c_api/support/ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 16, MOST_COMPLAINTS = 20, MOST_SECONDS = 120 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int checks;
static int complaints;
static pthread_barrier_t meeting;

struct job {
  struct rank self;
  weft_unique_id_t id;
  int timeout_ms;
  void (*body)(struct rank* self);
};

static void complain(const char* file, int line, const char* what, const char* more) {
  if (++complaints <= MOST_COMPLAINTS) fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, more);
}

int check(int right, const char* file, int line, const char* what) {
  pthread_mutex_lock(&mutex);
  ++checks;
  if (!right) complain(file, line, what, "is not so");
  pthread_mutex_unlock(&mutex);
  return right;
}

int check_status(weft_status_t got, weft_status_t wanted, const char* words, const char* file, int line,
                 const char* what) {
  const char* said = got == WEFT_SUCCESS || got == WEFT_IN_PROGRESS ? "" : weft_last_error(NULL);
  const int right = got == wanted && strstr(said, words) != NULL;
  char more[1024];
  pthread_mutex_lock(&mutex);
  ++checks;
  if (!right) {
    snprintf(more, sizeof more, "%s, \"%s\"; wanted %s, \"%s\"", weft_error_string(got), said,
             weft_error_string(wanted), words);
    complain(file, line, what, more);
  }
  pthread_mutex_unlock(&mutex);
  return right;
}

int check_bytes(const void* got, const void* wanted, size_t bytes, const char* file, int line, const char* what) {
  const unsigned char* a = got;
  const unsigned char* b = wanted;
  size_t at = 0;
  char more[128];
  while (at < bytes && a[at] == b[at]) ++at;
  pthread_mutex_lock(&mutex);
  ++checks;
  if (at < bytes) {
    snprintf(more, sizeof more, "byte %zu of %zu is %d, wanted %d", at, bytes, a[at], b[at]);
    complain(file, line, what, more);
  }
  pthread_mutex_unlock(&mutex);
  return at == bytes;
}

weft_options_t options_of(int timeout_ms) {
  weft_options_t options = WEFT_OPTIONS_INITIALIZER;
  options.timeout_ms = timeout_ms;
  options.transports = "shm";
  return options;
}

void meet(void) { pthread_barrier_wait(&meeting); }

static void* run_rank(void* argument) {
  struct job* job = argument;
  if (job->timeout_ms > 0) {
    const weft_options_t options = options_of(job->timeout_ms);
    if (!CHECK_OK(weft_comm_init_rank(&job->self.comm, job->self.size, job->id, job->self.rank, &options))) return NULL;
  }
  job->body(&job->self);
  CHECK_OK(weft_comm_destroy(job->self.comm));
  return NULL;
}

void run_ranks(int size, int timeout_ms, void (*body)(struct rank* self)) {
  static struct job jobs[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  weft_unique_id_t id;
  int rank;
  if (!CHECK_OK(weft_get_unique_id(&id))) return;
  alarm(MOST_SECONDS); /* its signal ends the program */
  pthread_barrier_init(&meeting, NULL, (unsigned)size);
  for (rank = 0; rank < size; ++rank) {
    struct job* job = &jobs[rank];
    job->self.rank = rank;
    job->self.size = size;
    job->self.comm = NULL;
    job->id = id;
    job->timeout_ms = timeout_ms;
    job->body = body;
    if (pthread_create(&threads[rank], NULL, run_rank, job) != 0) {
      fprintf(stderr, "no thread for rank %d\n", rank);
      exit(2);
    }
  }
  for (rank = 0; rank < size; ++rank) pthread_join(threads[rank], NULL);
  pthread_barrier_destroy(&meeting);
  alarm(0);
}

int verdict(void) {
  if (complaints > MOST_COMPLAINTS) fprintf(stderr, "... and %d more\n", complaints - MOST_COMPLAINTS);
  printf("%d checks, %d wrong\n", checks, complaints);
  return complaints == 0 && checks > 0 ? 0 : 1;
}
