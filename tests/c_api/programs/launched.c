/* A rank that a launcher started, for tests: says who it is and what the ranks' numbers add up to. With the argument
 * "die", rank 1 ends without a word and the others say whom they miss; with "wait", they wait for it by requests. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/weft.h"

static void must(weft_status_t status) {
  if (status == WEFT_SUCCESS) return;
  printf("%s, peer %d: %s\n", weft_error_string(status), weft_last_error_peer(NULL), weft_last_error(NULL));
  exit(status == WEFT_ERROR_PEER_LOST ? 3 : 2);
}

int main(int argc, char** argv) {
  const char* order = argc > 1 ? argv[1] : "";
  weft_comm_t comm = NULL;
  int rank = -1, size = -1, sum = 0;
  must(weft_comm_init(&comm, NULL));
  must(weft_comm_rank(comm, &rank));
  must(weft_comm_size(comm, &size));
  must(weft_all_reduce(&rank, &sum, 1, WEFT_INT32, WEFT_SUM, comm, NULL));
  printf("rank %d of %d, sum %d\n", rank, size, sum);
  fflush(stdout);
  if (strcmp(order, "die") == 0 || strcmp(order, "wait") == 0) {
    weft_request_t request = NULL;
    if (rank == 1) _exit(0);
    must(weft_barrier(comm, strcmp(order, "wait") == 0 ? &request : NULL));
    must(weft_wait(&request, WEFT_UNTIL_DEADLINE));
    return 1;
  }
  must(weft_comm_close(comm));
  must(weft_comm_destroy(comm));
  return 0;
}
