/*
 * Writes ROSS's samples of GVTs while it runs, as ROSS does: a frame for each PE, times in cycles over 1e9. wall.txt has the
 * wall clock of rank 0's, in ns. Prints some of what ROSS prints.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static uint64_t cycles(void) {
  unsigned low, high;
  __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}
struct sample { int32_t kind, size; double virtual, real; uint32_t counts[13]; float times[13]; };
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  FILE *file = rank == 0 ? fopen("ross-stats-gvt.bin", "wb") : NULL, *wall = rank == 0 ? fopen("wall.txt", "w") : NULL;
  if (rank == 0) {
    printf("ROSS Version: v0\n\nROSS Core Configuration: \n\t%-50s %11u\n", "Total PEs", size);
    printf("\t%-50s [Nodes (%u) x KPs (%u)] %u\n\t%-50s %11u\n", "Total KPs", size, 16, 16 * size, "Total LPs", 128);
    printf("*** START PARALLEL OPTIMISTIC SIMULATION ***\n\n");
  }
  for (int k = 1; k <= 15; k++) {
    usleep(100000);
    struct sample one, all[8];
    memset(&one, 0, sizeof one);
    one.size = 104, one.virtual = k, one.real = cycles() / 1e9;
    one.counts[0] = rank, one.counts[1] = 1000, one.counts[3] = 10 + 190 * rank, one.counts[4] = 5, one.counts[10] = k;
    one.times[0] = 100.0 * (1 - one.counts[3] / (1000.0 - one.counts[3])), one.times[3] = k, one.times[6] = 0.01;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    MPI_Gather(&one, sizeof one, MPI_BYTE, all, sizeof one, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank > 0) continue;
    fwrite(all, sizeof one, size, file), fflush(file);
    fprintf(wall, "%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec), fflush(wall);
  }
  if (rank == 0) {
    printf("\n\t: Running Time = %.4f seconds\n\n\t%-50s %11d\n", 1.5, "Total GVT Computations", 15);
    printf("\t%-50s %11d\n\t%-50s %11d\n", "GVT Interval", 16, "Batch Size", 8);
  }
  MPI_Finalize();
  return 0;
}
