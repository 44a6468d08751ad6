/* Round trips between two ranks, as JSON: the yardstick of mpi-ping.mjs. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TRIPS = 20000 };

int main(int argc, char **argv) {
  static char buffer[4096];
  const int sizes[] = {64, 1024, 4032};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int s = 0; s < 3; s++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double started = MPI_Wtime();
    for (int k = 0; k < TRIPS; k++) {
      if (rank == 0) MPI_Send(buffer, sizes[s], MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(buffer, sizes[s], MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(buffer, sizes[s], MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    double micros = (MPI_Wtime() - started) / TRIPS * 1e6;
    if (rank == 0) {
      printf("%s{\"bytes\":%d,\"roundTrip\":%f}", s == 0 ? "[" : ",", sizes[s], micros);
    }
  }
  if (rank == 0) printf("]\n");
  MPI_Finalize();
  return 0;
}
