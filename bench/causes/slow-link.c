// A cable between two network namespaces in which each packet is so many microseconds on its way: slow-link PID PID DELAY.
// Makes the device tri0 in each, and says so by a line; ends with its standard input.
// slow-link run COMMAND… ends when all that the command has started has ended, so that their time on CPUs is its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PACKETS = 4096, BYTES = 2048 };
typedef struct { int64_t due; ssize_t length; char bytes[BYTES]; } Packet;
typedef struct { unsigned first, end; Packet packets[PACKETS]; } Queue;
static Queue queues[2];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static int device(const char *pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
  int space = open(path, O_RDONLY), file = -1;
  struct ifreq request = {0};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  strcpy(request.ifr_name, "tri0");
  if (space < 0 || setns(space, CLONE_NEWNET) != 0 || (file = open("/dev/net/tun", O_RDWR | O_NONBLOCK)) < 0 ||
      ioctl(file, TUNSETIFF, &request) != 0) {
    perror(path);
    exit(1);
  }
  close(space);
  return file;
}

static int run(char **command) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t first = fork(), ended;
  if (first == 0) {
    execvp(command[0], command);
    _exit(127);
  }
  int status, code = 1;
  while ((ended = wait(&status)) > 0)
    if (ended == first) code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return code;
}

int main(int words, char **word) {
  if (words > 2 && strcmp(word[1], "run") == 0) return run(word + 2);
  if (words != 4) return 2;
  struct pollfd files[3] = {{device(word[1]), POLLIN, 0}, {device(word[2]), POLLIN, 0}, {0, POLLIN, 0}};
  int64_t delay = 1000ll * atoll(word[3]);
  puts("ready");
  fflush(stdout);
  for (;;) {
    int64_t next = INT64_MAX;
    for (int k = 0; k < 2; k++) {
      Queue *q = &queues[k];
      // A packet that the other side does not take is lost, as in any network.
      for (; q->first != q->end && q->packets[q->first % PACKETS].due <= now(); q->first++) {
        Packet *p = &q->packets[q->first % PACKETS];
        if (write(files[1 - k].fd, p->bytes, p->length) < 0) continue;
      }
      if (q->first != q->end && q->packets[q->first % PACKETS].due < next) next = q->packets[q->first % PACKETS].due;
    }
    int64_t left = next == INT64_MAX ? 1000000000 : next - now();
    struct timespec wait = {left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};
    if (ppoll(files, 3, &wait, NULL) < 0) return 1;
    char end;
    if (files[2].revents != 0 && read(0, &end, 1) <= 0) return 0;
    for (int k = 0; k < 2; k++) {
      Queue *q = &queues[k];
      while (q->end - q->first < PACKETS) {
        Packet *p = &q->packets[q->end % PACKETS];
        if ((p->length = read(files[k].fd, p->bytes, BYTES)) <= 0) break;
        p->due = now() + delay;
        q->end++;
      }
    }
  }
}
