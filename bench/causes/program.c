/*
 * A program that does one thing, for bench/causes/programs.mjs:
 *   work THREADS UNITS [bound|moving]   computes: threads anywhere, on a CPU each, or asked to move eight times a second
 *   fault MEGABYTES UNITS [kept]        touches fresh memory UNITS times; kept: the same memory again
 *   write FILE MEGABYTES PIECE          writes a file past the cache, in pieces of so many kilobytes
 *   hold MEGABYTES SECONDS              has so much memory and touches it again and again
 *   map FILE MEGABYTES TOUCHES          touches pages of a mapped file at random, so many thousand times
 *   steps UNITS MORE STEPS              with -DWITH_MPI: ranks compute and meet; rank 1 has MORE percent more to do
 *   talk ROUNDS UNITS                   ranks exchange a word, and compute a little between
 * A unit is about a millisecond of computing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#include "triscope_region.h"
#endif

static volatile double sink;

static void compute(long units) {
  double x = 1;
  for (long k = 0; k < units * 600000; k++) x = x * 0.999999 + 1e-7;
  sink = x;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static long units;
static const char *place = "";

static void *work(void *number) {
  int cpu = (int)(long)number % (int)sysconf(_SC_NPROCESSORS_ONLN);
  double next = now();
  if (strcmp(place, "bound") == 0) bind_to(cpu);
  for (long k = 0; k < units; k++) {
    if (strcmp(place, "moving") == 0 && now() >= next) {
      bind_to(cpu ^= 1);
      next = now() + 0.125;
    }
    compute(1);
  }
  return NULL;
}

static void fault(long megabytes, long times, int kept) {
  size_t bytes = (size_t)megabytes << 20;
  char *memory = NULL;
  for (long n = 0; n < times; n++) {
    if (memory == NULL)
      memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t k = 0; k < bytes; k += 4096) memory[k] = (char)n;
    if (kept) continue;
    munmap(memory, bytes);
    memory = NULL;
  }
}

static int put(const char *path, long megabytes, long kilobytes) {
  size_t piece = (size_t)kilobytes << 10;
  void *bytes = NULL;
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0600);
  if (file < 0 || posix_memalign(&bytes, 4096, piece) != 0) return 1;
  memset(bytes, 1, piece);
  for (size_t left = (size_t)megabytes << 20; left >= piece; left -= piece)
    if (write(file, bytes, piece) < 0) return 1;
  close(file);
  unlink(path);
  return 0;
}

static void hold(long megabytes, long seconds) {
  size_t bytes = (size_t)megabytes << 20;
  char *memory = malloc(bytes);
  // It has the memory once each page was touched, which takes seconds on a busy machine.
  memset(memory, 1, bytes);
  for (double end = now() + seconds; now() < end; compute(5))
    for (size_t k = 0; k < bytes; k += 4096) memory[k]++;
}

static int map(const char *path, long megabytes, long thousands) {
  size_t bytes = (size_t)megabytes << 20;
  char *piece = calloc(1, 1 << 20);
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return 1;
  for (long k = 0; k < megabytes; k++)
    if (write(file, piece, 1 << 20) < 0) return 1;
  fsync(file);
  char *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  madvise(memory, bytes, MADV_RANDOM);
  unsigned place = 1;
  for (long k = 0; k < thousands * 1000; k++) {
    place = place * 1664525u + 1013904223u;
    sink += memory[(size_t)((double)place / 4294967296.0 * bytes)];
  }
  unlink(path);
  return 0;
}

int main(int count, char **words) {
  long number[3] = {0};
  for (int k = 2; k < count && k < 5; k++) number[k - 2] = atol(words[k]);
  if (count < 4) return 2;
  if (strcmp(words[1], "work") == 0) {
    pthread_t all[64];
    units = number[1];
    if (count > 4) place = words[4];
    for (long k = 0; k < number[0]; k++) pthread_create(&all[k], NULL, work, (void *)k);
    for (long k = 0; k < number[0]; k++) pthread_join(all[k], NULL);
  } else if (strcmp(words[1], "fault") == 0) {
    fault(number[0], number[1], count > 4);
  } else if (strcmp(words[1], "write") == 0) {
    return put(words[2], number[1], number[2]);
  } else if (strcmp(words[1], "map") == 0) {
    return map(words[2], number[1], number[2]);
  } else if (strcmp(words[1], "hold") == 0) {
    hold(number[0], number[1]);
#ifdef WITH_MPI
  } else {
    int rank, size, word = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int solve = triscope_region("solve", TRISCOPE_HINT_COMPUTE);
    if (strcmp(words[1], "steps") == 0) {
      for (long n = 0; n < number[2]; n++) {
        triscope_enter(solve);
        compute(number[0] * (rank == 1 ? 100 + number[1] : 100) / 100);
        triscope_exit(solve);
        MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      }
    } else {
      for (long n = 0; n < number[0]; n++) {
        if (n % 1000 == 0) compute(number[1]);
        MPI_Sendrecv_replace(&word, 1, MPI_INT, rank ^ 1, 0, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    MPI_Finalize();
#endif
  }
  return 0;
}
