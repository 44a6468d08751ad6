/* For LD_PRELOAD: as with a driver that hangs, a read of BLOCKED_FILE does not return any more after the 40th. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int blocks(int fd) {
  static int reads;
  char link[64], path[4096];
  const char *file = getenv("BLOCKED_FILE");
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = file == NULL ? -1 : readlink(link, path, sizeof path - 1);
  if (n < 0) return 0;
  path[n] = 0;
  return strcmp(path, file) == 0 && ++reads > 40;
}

#define READ(NAME)                                                \
  ssize_t NAME(int fd, void *to, size_t n, off_t at) {            \
    static ssize_t (*real)(int, void *, size_t, off_t);           \
    if (real == NULL) real = dlsym(RTLD_NEXT, #NAME);             \
    while (blocks(fd)) pause();                                   \
    return real(fd, to, n, at);                                   \
  }
READ(pread)
READ(pread64)
