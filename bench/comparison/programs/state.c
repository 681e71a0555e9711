// How near two cores are at this moment: the time that a cache line's flag takes from one to the other, one way.
// Virtual machines may be moved between cores while they run, and small messages then take half as long or twice;
// measured beside everything else, it tells such times apart.
//
// Prints "flag NANOSECONDS": the median of short trials. Exit status 3 if there are no two CPUs.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TRIALS = 15, ROUND_TRIPS = 2000 };

static _Alignas(128) atomic_int ping;
static _Alignas(128) atomic_int pong;
static int cpus[2];

static void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

// Where the other thread does not run, spinning would not end soon: it lets others run now and then.
static void wait_for(atomic_int* flag, int value) {
  for (unsigned spins = 1; atomic_load_explicit(flag, memory_order_acquire) != value; ++spins)
    if (spins % 20000 == 0) sched_yield();
}

static void* answer(void* unused) {
  pin_to(cpus[1]);
  for (int i = 1; i <= TRIALS * ROUND_TRIPS; ++i) {
    wait_for(&ping, i);
    atomic_store_explicit(&pong, i, memory_order_release);
  }
  return unused;
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left;
  const double b = *(const double*)right;
  return (a > b) - (a < b);
}

int main(void) {
  cpu_set_t allowed;
  int found = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 3;
  for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus[found++] = cpu;
  if (found < 2) return 3;
  pthread_t thread;
  if (pthread_create(&thread, NULL, answer, NULL) != 0) return 1;
  pin_to(cpus[0]);
  double trials[TRIALS];
  for (int trial = 0, i = 1; trial < TRIALS; ++trial) {
    const double start = now_ns();
    for (int last = i + ROUND_TRIPS; i < last; ++i) {
      atomic_store_explicit(&ping, i, memory_order_release);
      wait_for(&pong, i);
    }
    trials[trial] = (now_ns() - start) / ROUND_TRIPS / 2;
  }
  pthread_join(thread, NULL);
  qsort(trials, TRIALS, sizeof trials[0], ascending);
  printf("flag %.1f\n", trials[TRIALS / 2]);
  return 0;
}
