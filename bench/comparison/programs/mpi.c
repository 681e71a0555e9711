// Times the collectives of any MPI: the same text is compiled with each MPI's own header and library.
#include <mpi.h>

#include "loop.h"

static struct Peer peer;

static void run(const struct Call* call) {
  const int count = (int)call->count;
  const int block = count / peer.ranks;
  const MPI_Comm all = MPI_COMM_WORLD;
  switch (call->collective) {
    case ALL_REDUCE:
      MPI_Allreduce(call->in, call->out, count, MPI_FLOAT, MPI_SUM, all);
      break;
    case ALL_GATHER:
      MPI_Allgather(call->in, block, MPI_FLOAT, call->out, block, MPI_FLOAT, all);
      break;
    case REDUCE_SCATTER:
      MPI_Reduce_scatter_block(call->in, call->out, block, MPI_FLOAT, MPI_SUM, all);
      break;
    case ALL_TO_ALL:
      MPI_Alltoall(call->in, block, MPI_FLOAT, call->out, block, MPI_FLOAT, all);
      break;
    case BROADCAST:
      MPI_Bcast(call->out, count, MPI_FLOAT, call->root, all);
      break;
    default:
      MPI_Barrier(all);
      break;
  }
}

static void agree_on_max(double* values, int number) {
  MPI_Allreduce(MPI_IN_PLACE, values, number, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  peer.run = run;
  peer.agree_on_max = agree_on_max;
  MPI_Comm_rank(MPI_COMM_WORLD, &peer.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &peer.ranks);
  const struct Settings settings = read_settings(argc, argv, NULL);
  measure_all(&peer, &settings);
  MPI_Finalize();
  return 0;
}
