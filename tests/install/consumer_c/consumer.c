/* Uses an installed Weft through its header for C: a collective on one rank. */
#include <stdio.h>
#include <weft/weft.h>

int main(void) {
  const float in[3] = {1, 2, 3};
  float out[3] = {0, 0, 0};
  weft_unique_id_t id;
  weft_comm_t comm = NULL;
  int version = 0;
  if (weft_get_unique_id(&id) != WEFT_SUCCESS || weft_comm_init_rank(&comm, 1, id, 0, NULL) != WEFT_SUCCESS ||
      weft_all_reduce(in, out, 3, WEFT_FLOAT32, WEFT_SUM, comm, NULL) != WEFT_SUCCESS ||
      weft_comm_destroy(comm) != WEFT_SUCCESS || weft_get_version(&version) != WEFT_SUCCESS) {
    fprintf(stderr, "%s\n", weft_last_error(NULL));
    return 1;
  }
  printf("weft %d in c: sum %g %g %g\n", version, (double)out[0], (double)out[1], (double)out[2]);
  return 0;
}
