// A disk that takes SLOW_DISK bytes a second: writes of a run's records last as long as that takes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static void wait_for(int file, size_t bytes) {
  const char *rate = getenv("SLOW_DISK");
  char link[64], name[512];
  if (rate == NULL || bytes < 512) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length <= 0) return;
  name[length] = 0;
  if (strstr(name, "ross-stats") == NULL && strstr(name, "extra.frames") == NULL) return;
  double seconds = (double)bytes / atof(rate);
  struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&time, NULL);
}

ssize_t write(int file, const void *data, size_t bytes) {
  static ssize_t (*real)(int, const void *, size_t);
  if (real == NULL) real = dlsym(RTLD_NEXT, "write");
  wait_for(file, bytes);
  return real(file, data, bytes);
}
