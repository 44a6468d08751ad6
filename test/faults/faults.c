/*
 * Preloaded into a program under test: makes one of its writes fail as disks do. Nothing in the program knows of it.
 *
 *   FAULT_BELOW  folder: only calls on files below it count
 *   FAULT_STATE  file of two 64-bit numbers, shared by all processes: calls so far, calls made to fail
 *   FAULT_AT     number of the call that fails, from 1; 0: count only
 *   FAULT_HOW    ENOSPC: that call and all later ones; EIO: that call alone; SHORT: it writes half of what it was given
 *   FAULT_ALLOC  bytes: instead, allocations of at least so many fail from number FAULT_AT on
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic uint64_t *state;
static char below[4096];
static size_t below_length;
static uint64_t at;
static uint64_t least;
static enum { FULL, BROKEN, SHORT_WRITE } how;

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("FAULT_BELOW");
  const char *file = getenv("FAULT_STATE");
  const char *number = getenv("FAULT_AT");
  const char *kind = getenv("FAULT_HOW");
  const char *size = getenv("FAULT_ALLOC");
  if (file == NULL || folder == NULL) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR, 0);
  if (fd < 0) return;
  void *page = (void *)syscall(SYS_mmap, NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (page == MAP_FAILED) return;
  snprintf(below, sizeof below, "%s/", folder);
  below_length = strlen(below);
  at = number == NULL ? 0 : strtoull(number, NULL, 10);
  least = size == NULL ? 0 : strtoull(size, NULL, 10);
  how = kind != NULL && strcmp(kind, "EIO") == 0     ? BROKEN
        : kind != NULL && strcmp(kind, "SHORT") == 0 ? SHORT_WRITE
                                                     : FULL;
  state = page;
}

/* Counts a call; whether it fails. */
static int is_hit(void) {
  uint64_t number = atomic_fetch_add(&state[0], 1) + 1;
  if (at == 0 || (how == FULL ? number < at : number != at)) return 0;
  atomic_fetch_add(&state[1], 1);
  return 1;
}

static int is_below(int fd) {
  if (state == NULL || least > 0 || fd < 0) return 0;
  char link[64], path[4096];
  int saved = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = saved;
  return length > 0 && (size_t)length > below_length && memcmp(path, below, below_length) == 0;
}

static int error_of(void) { return how == BROKEN ? EIO : ENOSPC; }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A write of `count` bytes: how many of them are to be written; -1 where it fails. */
static ssize_t allowed(int fd, size_t count) {
  if (!is_below(fd) || !is_hit()) return (ssize_t)count;
  if (how == SHORT_WRITE && count > 1) return (ssize_t)(count / 2);
  if (how == SHORT_WRITE) return (ssize_t)count;
  errno = error_of();
  return -1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  ssize_t n = allowed(fd, count);
  return n < 0 ? n : syscall(SYS_write, fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  ssize_t n = allowed(fd, count);
  return n < 0 ? n : syscall(SYS_pwrite64, fd, bytes, n, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  return pwrite(fd, bytes, count, offset);
}

/* Of several pieces only the first is written, where the write is to be short. */
static ssize_t pieces(int fd, const struct iovec *iov, int count, off_t offset) {
  size_t whole = 0;
  for (int k = 0; k < count; k++) whole += iov[k].iov_len;
  ssize_t n = allowed(fd, whole);
  if (n < 0) return n;
  if ((size_t)n < whole) {
    size_t some = iov[0].iov_len < (size_t)n ? iov[0].iov_len : (size_t)n;
    return offset < 0 ? syscall(SYS_write, fd, iov[0].iov_base, some)
                      : syscall(SYS_pwrite64, fd, iov[0].iov_base, some, offset);
  }
  return offset < 0 ? syscall(SYS_writev, fd, iov, count)
                    : syscall(SYS_pwritev, fd, iov, count, offset, 0);
}

ssize_t writev(int fd, const struct iovec *iov, int count) { return pieces(fd, iov, count, -1); }
ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t offset) {
  return pieces(fd, iov, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec *iov, int count, off64_t offset) {
  return pieces(fd, iov, count, offset);
}

static int refused(int fd) {
  if (how == SHORT_WRITE || !is_below(fd) || !is_hit()) return 0;
  errno = error_of();
  return 1;
}

int fsync(int fd) { return refused(fd) ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return refused(fd) ? -1 : (int)syscall(SYS_fdatasync, fd); }
int ftruncate(int fd, off_t length) {
  /* A full disk makes no file shorter, and stops none from becoming so. */
  struct stat now;
  if (how == FULL && fstat(fd, &now) == 0 && length <= now.st_size)
    return (int)syscall(SYS_ftruncate, fd, length);
  return refused(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}
int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  if (fd >= 0 && (protection & PROT_WRITE) && refused(fd)) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
  return mmap(address, length, protection, flags, fd, offset);
}

/* Memory: only where FAULT_ALLOC says from which size on. */
static int is_out(size_t size) {
  if (state == NULL || least == 0 || size < least || !is_hit()) return 0;
  errno = ENOMEM;
  return 1;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
void *malloc(size_t size) { return is_out(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
  return is_out(count * size) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) { return is_out(size) ? NULL : __libc_realloc(old, size); }
