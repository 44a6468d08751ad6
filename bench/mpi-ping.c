/* Round trips and message rates between two ranks, as JSON: the yardstick of mpi-ping.mjs. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TRIPS = 20000, WINDOW = 64, WINDOWS = 2000, BYTES = 4096 };

static char buffer[WINDOW][BYTES];
static int rank;

static double round_trip(int bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  double started = MPI_Wtime();
  for (int k = 0; k < TRIPS; k++) {
    if (rank == 0) MPI_Send(buffer[0], bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(buffer[0], bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer[0], bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - started) / TRIPS * 1e6;
}

/* Messages per microsecond: windows of non-blocking sends, each answered once. */
static double message_rate(int bytes) {
  MPI_Request requests[WINDOW];
  MPI_Barrier(MPI_COMM_WORLD);
  double started = MPI_Wtime();
  for (int w = 0; w < WINDOWS; w++) {
    for (int k = 0; k < WINDOW; k++) {
      if (rank == 0) MPI_Isend(buffer[k], bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[k]);
      else MPI_Irecv(buffer[k], bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[k]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Recv(buffer[0], 64, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(buffer[0], 64, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
  return WINDOW * (double)WINDOWS / ((MPI_Wtime() - started) * 1e6);
}

int main(int argc, char **argv) {
  const int sizes[] = {64, 1024, 4032};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int s = 0; s < 3; s++) {
    double micros = round_trip(sizes[s]);
    double rate = message_rate(sizes[s]);
    if (rank == 0) {
      printf("%s{\"bytes\":%d,\"roundTrip\":%f,\"rate\":%f}", s == 0 ? "[" : ",", sizes[s], micros, rate);
    }
  }
  if (rank == 0) printf("]\n");
  MPI_Finalize();
  return 0;
}
