/*
 * Writes the region page of this process: the layout is that of docs/region-page.md, version 2. C11, POSIX threads, Linux.
 *
 * Marking costs two readings of a clock and a dozen stores; where the process has threads, four atomic additions more for
 * an outermost region. Locks are taken only to name a region and to begin a thread.
 */
#define _GNU_SOURCE
#include "triscope_region.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined __has_include && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define ALONE __libc_single_threaded
#else
#define ALONE 0
#endif
#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* ---- The page ---------------------------------------------------------------------------------------------------- */

enum { MAGIC = 0x4e475254, VERSION = 2 };
enum { THREADS = 16384, WIDE = 2048, NARROW_NODES = 128, NARROW_RING = 64 };
enum { THREADS_SMALL = 128, REGIONS = 4096, NODES = 8192, NAME_BYTES = 1 << 20, DEPTH = 64 };
enum { STARTED = 1, STOPPED = 2, MPI = 4 };
enum { FREE, LIVE, ENDED };
enum { ENTRY = 0, EXIT = 1, EPOCH = 2 };

struct header {
    uint32_t magic, version, pid, flags;
    uint64_t start_ns, start_wall_ns;
    uint32_t bytes, thread_capacity, region_capacity, node_capacity, name_capacity, ring_capacity;
    uint32_t threads, regions, names, nodes, rings;
    uint32_t threads_used, regions_used, names_used;
    uint32_t regions_refused, threads_refused, misordered, unplaced;
    uint32_t epochs, parent_pid;
    double first_epoch, last_epoch, started, stopped, overhead;
    int32_t rank;
    uint32_t process_name_bytes, cpu_count, inside, round, searched;
    uint32_t wide_threads, narrow_nodes, narrow_ring;
    uint8_t spare[256 - 188];
    char process_name[256];
    uint8_t cpus[1024];
    uint8_t more[4096 - 1536];
};

struct thread {
    uint32_t seq, state, tid, depth, hash, hint, node;
    int32_t cpu;
    double entered;
    uint32_t work_total, work_done, nodes_used, ring_head, unplaced_depth;
    uint8_t engine[112 - 60];
    uint64_t united;
    uint32_t work_round, spare;
};

struct region {
    uint32_t state, hash, hint, name, name_bytes, inside, spare[2];
};

struct node {
    uint32_t region, parent, first_child, next_sibling, kind, inside;
    double count, total, entered;
    uint64_t united, spare;
};

struct event {
    double time;
    uint32_t code, value, depth, tid;
};

_Static_assert(sizeof(struct header) == 4096 && sizeof(struct thread) == 128, "layout");
_Static_assert(sizeof(struct region) == 32 && sizeof(struct node) == 64 && sizeof(struct event) == 24, "layout");

/* ---- This process and its threads -------------------------------------------------------------------------------- */

struct place {
    uint32_t parent, node; /* where the region was last entered: below `parent`, plus 1 (0: never) */
};

/* A thread's clock between two readings of the kernel's. */
struct ticks {
    uint64_t cycles, ns;               /* both at the last of them, ns since the page's zero */
    uint64_t anchor_cycles, anchor_ns; /* both at one of those before, from which on the rate is taken */
    double ns_per_cycle, last;         /* the rate; what was told last */
};

/* A thread's pen; `page` tells whether it is of the present page (fork makes another). */
struct pen {
    struct header *page;
    struct thread *slot;
    struct node *nodes;
    struct event *ring;
    uint32_t ring_mask, node_capacity;
    struct ticks ticks;
    struct place places[REGIONS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct header *page;
static struct header *parents_page; /* of the process that forked this one: it has the names */
static int asked;
static int detached; /* asked, and there is no page */
static uint32_t seen;                 /* region slots in `by_hash` */
static uint16_t by_hash[4 * REGIONS]; /* index + 1 of regions, by hash, open addressing */
static uint32_t crc_table[256];
static int warned;
static pthread_key_t ending;
static __thread struct pen *mine;
static __thread int refused;

#define at(page, offset) ((void *)((char *)(page) + (page)->offset))

static uint32_t load(const uint32_t *cell) { return __atomic_load_n(cell, __ATOMIC_ACQUIRE); }
static void store(uint32_t *cell, uint32_t value) { __atomic_store_n(cell, value, __ATOMIC_RELEASE); }
static uint32_t add(uint32_t *cell, uint32_t value) { return __atomic_fetch_add(cell, value, __ATOMIC_ACQ_REL); }
/* As add; without the lock prefix while there is one thread. */
static inline uint32_t count(uint32_t *cell, uint32_t value) {
    if (!ALONE) return add(cell, value);
    uint32_t before = *cell;
    *cell = before + value;
    return before;
}

static void begin_write(struct thread *t) {
    __atomic_store_n(&t->seq, t->seq + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}
static void end_write(struct thread *t) { store(&t->seq, t->seq + 1); }

static uint64_t clock_ns(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double now(const struct header *p) { return (double)(int64_t)(clock_ns(CLOCK_MONOTONIC) - p->start_ns); }

/*
 * The clock of marks is CLOCK_MONOTONIC. Where the kernel makes that of the processor's time-stamp counter, marks read the
 * counter itself, which takes a third of the time: the kernel's reading waits for all earlier instructions. Each thread sets
 * the two against each other anew after SPAN cycles, about a millisecond, so that the kernel's corrections of its clock are
 * followed: between two such moments the two differ by less than what a correction (at most 500 ppm) makes of a millisecond.
 */
enum { SPAN = 1 << 21, ANCHOR_NS = 20000000, APART = 1024, TRIES = 4 };

static int counts_cycles; /* whether the kernel's clock is the counter */
static double common_rate; /* ns per cycle, as a thread found it last; 0: none did yet */

#ifdef __x86_64__
static void look_at_clock(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    char text[8] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, text, sizeof text - 1) < 0) text[0] = 0;
        close(fd);
    }
    /* Bit 8: the counter's rate never changes. */
    counts_cycles = strcmp(text, "tsc\n") == 0 && __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}
static inline uint64_t cycles_now(void) { return __rdtsc(); }
#else
static void look_at_clock(void) {}
static inline uint64_t cycles_now(void) { return 0; }
#endif

/* Reads the kernel's clock, and the counter at the same moment if the thread is not interrupted between. */
static __attribute__((noinline)) double set_ticks(const struct header *p, struct ticks *t) {
    double rate;
    for (int k = 0;; k++) {
        uint64_t before = counts_cycles ? cycles_now() : 0;
        t->ns = clock_ns(CLOCK_MONOTONIC) - p->start_ns;
        uint64_t taken = counts_cycles ? cycles_now() - before : 0;
        t->cycles = before + taken / 2;
        if (!counts_cycles || taken < APART) break;
        if (k < TRIES) continue;
        t->ns_per_cycle = 0; /* for this reading alone */
        return (double)t->ns;
    }
    if (counts_cycles && t->ns - t->anchor_ns >= ANCHOR_NS) {
        rate = (double)(t->ns - t->anchor_ns) / (double)(t->cycles - t->anchor_cycles);
        if (t->anchor_cycles) __atomic_store(&common_rate, &rate, __ATOMIC_RELAXED);
        t->anchor_cycles = t->cycles;
        t->anchor_ns = t->ns;
    }
    __atomic_load(&common_rate, &rate, __ATOMIC_RELAXED);
    t->ns_per_cycle = rate;
    return (double)t->ns;
}

/* As now(), of a thread that marks: never less than it was told before. */
static inline double mark_time(const struct header *p, struct ticks *t) {
    uint64_t passed = cycles_now() - t->cycles;
    double time = passed < SPAN && t->ns_per_cycle != 0 ? (double)t->ns + (double)(int64_t)passed * t->ns_per_cycle : set_ticks(p, t);
    if (time < t->last) return t->last;
    return t->last = time;
}

static uint32_t crc32_of(const char *bytes, size_t length) {
    uint32_t crc = 0xffffffffu;
    for (size_t k = 0; k < length; k++) crc = crc >> 8 ^ crc_table[(crc ^ (uint8_t)bytes[k]) & 0xff];
    return ~crc;
}

static void make_crc_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
        crc_table[byte] = crc;
    }
}

/* ---- Making and joining the page --------------------------------------------------------------------------------- */

/* PID-STARTTIME-STACK.page: fields 22 and 28 of /proc/self/stat. */
static void page_path(char *path, size_t size, const char *folder) {
    char text[2048] = "";
    unsigned long long start_time = 0, stack = 0;
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t length = read(fd, text, sizeof text - 1);
        text[length > 0 ? length : 0] = 0;
        close(fd);
    }
    char *rest = strrchr(text, ')');
    int field = 2;
    for (char *word = rest ? strtok_r(rest + 1, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest)) {
        field++;
        if (field == 22) start_time = strtoull(word, NULL, 10);
        if (field == 28) stack = strtoull(word, NULL, 10);
    }
    snprintf(path, size, "%s/%d-%llu-%llu.page", folder, (int)getpid(), start_time, stack);
}

static struct header *map(int fd, size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct header *join_page(const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return NULL;
    struct stat status;
    struct header *p = NULL;
    if (fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof *p) p = map(fd, (size_t)status.st_size);
    close(fd);
    return p && p->magic == MAGIC && p->version == VERSION ? p : NULL;
}

static uint32_t ring_capacity(void) {
    const char *wish = getenv("TRISCOPE_REGION_RING");
    long events = wish ? strtol(wish, NULL, 10) : 0;
    uint32_t capacity = 16;
    if (events < 1) return 0;
    while (capacity < events && capacity < 1 << 16) capacity *= 2;
    return capacity;
}

static int rank_from_environment(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *text = getenv(names[k]);
        if (text && *text) return (int)strtol(text, NULL, 10);
    }
    return -1;
}

static void put_region(struct header *p, uint32_t index, const char *name, size_t length, uint32_t hash, uint32_t hint,
                       uint32_t offset) {
    struct region *r = (struct region *)at(p, regions) + index;
    memcpy((char *)at(p, names) + offset, name, length);
    r->hash = hash;
    r->hint = hint;
    r->name = offset;
    r->name_bytes = (uint32_t)length;
    store(&r->state, 1);
}

/* Nodes, or events, of all slots before `slot`: `many` of each wide one, `few` of the others. */
static size_t items_before(uint32_t slot, uint32_t wide, size_t many, size_t few) {
    return wide == 0 || slot <= wide ? slot * many : wide * many + (slot - wide) * few;
}

static struct node *nodes_of(const struct header *p, uint32_t slot) {
    return (struct node *)at(p, nodes) + items_before(slot, p->wide_threads, p->node_capacity, p->narrow_nodes);
}

static uint32_t narrow_ring_of(uint32_t ring) { return ring < NARROW_RING ? ring : NARROW_RING; }

static void fill_header(struct header *p, uint32_t threads, uint32_t ring, uint32_t bytes) {
    p->pid = (uint32_t)getpid();
    p->parent_pid = (uint32_t)getppid();
    p->rank = rank_from_environment();
    p->bytes = bytes;
    p->thread_capacity = threads;
    p->region_capacity = REGIONS;
    p->node_capacity = NODES;
    p->name_capacity = NAME_BYTES;
    p->ring_capacity = ring;
    p->wide_threads = WIDE;
    p->narrow_nodes = NARROW_NODES;
    p->narrow_ring = narrow_ring_of(ring);
    p->threads = sizeof *p;
    p->regions = p->threads + threads * sizeof(struct thread);
    p->names = p->regions + REGIONS * sizeof(struct region);
    p->nodes = p->names + NAME_BYTES;
    p->rings = p->nodes + (uint32_t)(items_before(threads, WIDE, NODES, NARROW_NODES) * sizeof(struct node));
    strncpy(p->process_name, program_invocation_short_name, 248);
    p->process_name_bytes = (uint32_t)strnlen(p->process_name, 248);
    cpu_set_t set[8]; /* 8192 CPUs */
    CPU_ZERO_S(sizeof set, set);
    if (sched_getaffinity(0, sizeof set, set) == 0) {
        for (uint32_t cpu = 0; cpu < 8 * sizeof p->cpus; cpu++) {
            if (!CPU_ISSET_S(cpu, sizeof set, set)) continue;
            p->cpus[cpu / 8] |= (uint8_t)(1 << cpu % 8);
            p->cpu_count = cpu + 1;
        }
    }
    static const char overflow[] = "(overflow)";
    put_region(p, 0, overflow, sizeof overflow - 1, crc32_of(overflow, sizeof overflow - 1), TRISCOPE_HINT_UNKNOWN, 0);
    p->names_used = sizeof overflow - 1;
    p->regions_used = 1;
    if (parents_page) { /* The program goes on using the regions that its parent named. */
        struct header *old = parents_page;
        uint32_t used = load(&old->regions_used);
        p->regions_used = used < REGIONS ? used : REGIONS;
        p->names_used = load(&old->names_used);
        memcpy(at(p, regions), at(old, regions), p->regions_used * sizeof(struct region));
        for (uint32_t k = 0; k < p->regions_used; k++) ((struct region *)at(p, regions) + k)->inside = 0;
        memcpy(at(p, names), at(old, names), p->names_used < NAME_BYTES ? p->names_used : NAME_BYTES);
        munmap(old, old->bytes);
        parents_page = NULL;
    }
    p->start_ns = clock_ns(CLOCK_MONOTONIC);
    p->start_wall_ns = clock_ns(CLOCK_REALTIME);
    p->flags = STARTED;
    p->version = VERSION;
    p->magic = MAGIC;
}

static struct header *make_page(const char *path, const char *folder) {
    char aside[4200];
    snprintf(aside, sizeof aside, "%s.%ld.tmp", path, syscall(SYS_gettid));
    mkdir(folder, 0700);
    int fd = open(aside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return NULL;
    uint32_t ring = ring_capacity(), threads = THREADS;
    size_t bytes;
    struct header *p;
    for (;; threads = THREADS_SMALL) { /* where address space is limited there is room for fewer threads */
        bytes = sizeof(struct header) + threads * sizeof(struct thread) + REGIONS * sizeof(struct region) + NAME_BYTES +
                items_before(threads, WIDE, NODES, NARROW_NODES) * sizeof(struct node) +
                items_before(threads, WIDE, ring, narrow_ring_of(ring)) * sizeof(struct event);
        p = bytes <= UINT32_MAX && ftruncate(fd, (off_t)bytes) == 0 ? map(fd, bytes) : NULL;
        if (p || threads == THREADS_SMALL) break;
    }
    close(fd);
    if (p) {
        fill_header(p, threads, ring, (uint32_t)bytes);
        /* Nobody sees it unfinished, and of two makers the first wins. */
        if (link(aside, path) != 0) {
            munmap(p, bytes);
            p = errno == EEXIST ? join_page(path) : NULL;
        }
    }
    unlink(aside);
    return p;
}

static struct region *region_at(const struct header *p, uint32_t index) { return (struct region *)at(p, regions) + index; }

/* `n` is outermost: the first thread that enters begins the time in which any is inside, the last one to leave ends it. */
static inline void go_inside(struct header *p, struct region *r, struct thread *t, struct node *n, double time) {
    if (count(&r->inside, 1) == 0) n->united -= (uint64_t)time;
    if (count(&p->inside, 1) == 0) t->united -= (uint64_t)time;
}
static inline void go_outside(struct header *p, struct region *r, struct thread *t, struct node *n, double time) {
    if (count(&r->inside, -1u) == 1) n->united += (uint64_t)time;
    if (count(&p->inside, -1u) != 1) return;
    t->united += (uint64_t)time;
    p->round++;
}

/* A thread that is in regions goes, or is gone: its visits last until now, and are not completed. */
static void end_visits(struct header *p, struct thread *t, struct node *nodes) {
    double time = now(p);
    for (uint32_t n = t->node, parent; n; n = parent) {
        parent = nodes[n].parent;
        nodes[n].total += time - nodes[n].entered;
        nodes[n].inside = 0;
        if (!parent) go_outside(p, region_at(p, nodes[n].region), t, &nodes[n], time);
    }
    t->depth = t->hash = t->hint = t->node = t->unplaced_depth = 0;
}

static void end_thread(void *pen) {
    struct pen *p = pen;
    if (p->page == page && p->slot) {
        begin_write(p->slot);
        end_visits(p->page, p->slot, p->nodes);
        end_write(p->slot);
        store(&p->slot->state, ENDED);
    }
    free(p);
}

/* In the child of a fork there is one thread, and the page is still its parent's. */
static void forget_page(void) {
    pthread_mutex_init(&lock, NULL);
    if (page) parents_page = page;
    free(mine);
    mine = NULL;
    pthread_setspecific(ending, NULL);
    page = NULL;
    asked = detached = 0;
    refused = 0;
}

/* Whether GEOPM_PROGRAM_FILTER, where there is one, names this program. */
static int is_wanted(void) {
    const char *list = getenv("GEOPM_PROGRAM_FILTER");
    size_t length = strlen(program_invocation_short_name);
    for (const char *word = list; word && *word; word += strspn(word, ", ")) {
        size_t here = strcspn(word, ", ");
        if (here == length && memcmp(word, program_invocation_short_name, here) == 0) return 1;
        word += here;
    }
    return !list || !*list;
}

/*
 * Folder of the pages. A program that GEOPM_PROGRAM_FILTER names looks for a controller that its user started elsewhere: its
 * folder is nobody else's to write in.
 */
static const char *pages_folder(char *meeting, size_t size) {
    const char *folder = getenv("TRISCOPE_REGION_DIR"), *filter = getenv("GEOPM_PROGRAM_FILTER");
    struct stat status;
    if (folder && *folder) return is_wanted() ? folder : NULL;
    if (!filter || !*filter || !is_wanted()) return NULL;
    snprintf(meeting, size, "/dev/shm/triscope-regions-%u", (unsigned)geteuid());
    if (lstat(meeting, &status) != 0 || !S_ISDIR(status.st_mode)) return NULL;
    return status.st_uid == geteuid() && (status.st_mode & 077) == 0 ? meeting : NULL;
}

static struct header *the_page(void) {
    if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) return page;
    pthread_mutex_lock(&lock);
    if (!asked) {
        char meeting[64];
        const char *folder = pages_folder(meeting, sizeof meeting);
        if (folder) {
            static int once;
            char path[4096];
            if (!once++) {
                make_crc_table();
                look_at_clock();
                pthread_key_create(&ending, end_thread);
                pthread_atfork(NULL, NULL, forget_page);
            }
            page_path(path, sizeof path, folder);
            page = join_page(path);
            if (!page) page = make_page(path, folder);
            if (!page) dprintf(2, "triscope: regions are not kept: %s: %s\n", path, strerror(errno));
        }
        __atomic_store_n(&detached, page == NULL, __ATOMIC_RELAXED);
        __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return page;
}

/* ---- Threads ------------------------------------------------------------------------------------------------------ */

static void take_slot(struct header *p, struct thread *t, struct node *nodes, uint32_t tid) {
    cpu_set_t set[8];
    t->tid = tid;
    t->cpu = -1;
    CPU_ZERO_S(sizeof set, set);
    if (sched_getaffinity(0, sizeof set, set) == 0 && CPU_COUNT_S(sizeof set, set) == 1) {
        for (int cpu = 0; cpu < 8192; cpu++) {
            if (CPU_ISSET_S(cpu, sizeof set, set)) t->cpu = cpu;
        }
    }
    if (t->nodes_used == 0) t->nodes_used = 1;
    t->seq |= 1;
    end_visits(p, t, nodes);
    t->work_total = t->work_done = 0;
    store(&t->seq, t->seq + 1);
    store(&t->state, LIVE);
}

static int is_gone(uint32_t tid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u", tid);
    return access(path, F_OK) != 0;
}

static uint32_t find_slot(struct header *p, uint32_t tid) {
    struct thread *threads = at(p, threads);
    uint32_t capacity = p->thread_capacity, used = load(&p->threads_used);
    if (used > capacity) used = capacity;
    for (uint32_t k = 0; k < used; k++) {
        /* This thread marks through another copy of the library too: they share. */
        if (load(&threads[k].state) == LIVE && threads[k].tid == tid) return k;
    }
    /* Slots of threads that recorded their end, then new ones, then those of threads that ended without recording it. */
    for (uint32_t k = 0; k < used; k++) {
        uint32_t was = ENDED;
        if (load(&threads[k].state) != ENDED) continue;
        if (threads[k].work_done && threads[k].work_round == p->round) continue; /* its work counts still */
        if (!__atomic_compare_exchange_n(&threads[k].state, &was, FREE, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
        take_slot(p, &threads[k], nodes_of(p, k), tid);
        return k;
    }
    if (used < capacity) {
        uint32_t k = add(&p->threads_used, 1);
        if (k < capacity) {
            take_slot(p, &threads[k], nodes_of(p, k), tid);
            return k;
        }
    }
    /* Each look at all threads costs milliseconds: where none was gone, the next one is a second later. */
    uint32_t second = 1 + (uint32_t)(now(p) / 1e9);
    uint32_t none_gone = load(&p->searched) == second;
    for (uint32_t k = 0; k < capacity && !none_gone; k++) {
        uint32_t was = LIVE, owner = __atomic_load_n(&threads[k].tid, __ATOMIC_RELAXED), none = FREE;
        if (load(&threads[k].state) != LIVE || !is_gone(owner)) continue;
        if (!__atomic_compare_exchange_n(&threads[k].state, &was, FREE, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
        if (threads[k].tid != owner) {
            /* Its owner ended and another thread took it over since: that one keeps it. */
            __atomic_compare_exchange_n(&threads[k].state, &none, LIVE, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
            continue;
        }
        take_slot(p, &threads[k], nodes_of(p, k), tid);
        return k;
    }
    store(&p->searched, second);
    add(&p->threads_refused, 1);
    return capacity;
}

/* The calling thread's pen; NULL where nothing is kept. */
static struct pen *my_pen(void) {
    struct header *p = the_page();
    if (!p || refused) return NULL;
    if (mine && mine->page == p) return mine;
    struct pen *pen = mine ? mine : malloc(sizeof *pen);
    if (!pen) return NULL;
    memset(pen, 0, sizeof *pen);
    uint32_t k = find_slot(p, (uint32_t)syscall(SYS_gettid));
    if (k == p->thread_capacity) {
        refused = 1;
        free(pen);
        mine = NULL;
        return NULL;
    }
    pen->page = p;
    pen->slot = (struct thread *)at(p, threads) + k;
    int is_wide = p->wide_threads == 0 || k < p->wide_threads;
    pen->nodes = nodes_of(p, k);
    pen->node_capacity = is_wide ? p->node_capacity : p->narrow_nodes;
    if (p->ring_capacity) {
        pen->ring = (struct event *)at(p, rings) + items_before(k, p->wide_threads, p->ring_capacity, p->narrow_ring);
        pen->ring_mask = (is_wide ? p->ring_capacity : p->narrow_ring) - 1;
    }
    pthread_setspecific(ending, pen);
    mine = pen;
    return pen;
}

/* NULL also once the application's time has ended: what is marked then is no part of it. */
static inline struct pen *pen_here(void) {
    if (__builtin_expect(__atomic_load_n(&detached, __ATOMIC_RELAXED), 0)) return NULL;
    struct pen *pen = mine;
    if (!pen || pen->page != __atomic_load_n(&page, __ATOMIC_RELAXED)) pen = my_pen();
    return pen && !(__atomic_load_n(&pen->page->flags, __ATOMIC_RELAXED) & STOPPED) ? pen : NULL;
}

/* ---- Names -------------------------------------------------------------------------------------------------------- */

/* Index of the region of that hash (and name, where given), or 0. */
static uint32_t look_up(const struct header *p, uint32_t hash, const char *name, size_t length) {
    for (uint32_t k = hash;; k++) {
        uint32_t index = __atomic_load_n(&by_hash[k % (4 * REGIONS)], __ATOMIC_ACQUIRE);
        if (index-- == 0) return 0;
        const struct region *r = region_at(p, index);
        if (r->hash != hash) continue;
        if (!name) return index;
        if (r->name_bytes == length && memcmp((char *)at(p, names) + r->name, name, length) == 0) return index;
    }
}

/* Whether a slot that was taken has its name within half a second: whoever fills it may have lost its CPU, or be gone for ever. */
static int is_named(const struct region *r) {
    for (int k = 0; k < 2500 && !load(&r->state); k++) usleep(200);
    return load(&r->state) != 0;
}

/* Takes up names that others (another copy of the library, Node) have written. */
static void catch_up(struct header *p) {
    uint32_t used = load(&p->regions_used);
    for (; seen < used && seen < REGIONS; seen++) {
        const struct region *r = region_at(p, seen);
        if (!is_named(r)) continue;
        uint32_t k = r->hash;
        while (by_hash[k % (4 * REGIONS)]) k++;
        __atomic_store_n(&by_hash[k % (4 * REGIONS)], (uint16_t)(seen + 1), __ATOMIC_RELEASE);
    }
}

static uint32_t name_region(struct header *p, const char *name, uint32_t hash, uint32_t hint) {
    size_t length = strlen(name);
    pthread_mutex_lock(&lock);
    catch_up(p);
    uint32_t index = look_up(p, hash, name, length);
    if (index == 0) {
        int room = load(&p->regions_used) < REGIONS && length <= NAME_BYTES && load(&p->names_used) <= NAME_BYTES - length;
        uint32_t offset = room ? add(&p->names_used, (uint32_t)length) : NAME_BYTES;
        room = room && offset <= NAME_BYTES - length;
        index = room ? add(&p->regions_used, 1) : REGIONS;
        if (index < REGIONS) {
            put_region(p, index, name, length, hash, hint, offset);
            catch_up(p);
            /* Of a name that another language gave in the same moment, the first slot counts. */
            uint32_t first = look_up(p, hash, name, length);
            if (first) index = first;
        } else {
            add(&p->regions_refused, 1);
            index = 0;
        }
    }
    pthread_mutex_unlock(&lock);
    return index;
}

/* ---- Marking ------------------------------------------------------------------------------------------------------ */

static void leave_event(struct pen *pen, uint32_t code, uint32_t value, uint32_t depth, double time) {
    if (!pen->ring) return;
    uint32_t head = pen->slot->ring_head;
    struct event *e = &pen->ring[head & pen->ring_mask];
    e->time = time;
    e->code = code;
    e->value = value;
    e->depth = depth;
    e->tid = pen->slot->tid;
    store(&pen->slot->ring_head, head + 1);
}

/* Node of `region` below `parent`, made where missing; 0 where the tree is full. */
static uint32_t node_of(struct pen *pen, uint32_t region, uint32_t parent) {
    struct thread *t = pen->slot;
    struct node *nodes = pen->nodes;
    uint32_t n = nodes[parent].first_child;
    while (n && (nodes[n].region != region || nodes[n].kind != 0)) n = nodes[n].next_sibling;
    if (!n && t->nodes_used < pen->node_capacity - (region != 0)) { /* the last one is kept for (overflow) */
        n = t->nodes_used;
        begin_write(t);
        nodes[n].region = region;
        nodes[n].parent = parent;
        nodes[n].next_sibling = nodes[parent].first_child;
        nodes[parent].first_child = n;
        t->nodes_used = n + 1;
        end_write(t);
    }
    pen->places[region].parent = parent + 1;
    pen->places[region].node = n;
    return n;
}

static void enter(struct pen *pen, uint32_t region) {
    struct thread *t = pen->slot;
    double time = mark_time(pen->page, &pen->ticks);
    uint32_t parent = t->node;
    const struct place *place = &pen->places[region];
    uint32_t n = 0;
    if (t->depth < DEPTH && !t->unplaced_depth) {
        n = place->parent == parent + 1 ? place->node : node_of(pen, region, parent);
    }
    if (!n) {
        t->unplaced_depth++;
        add(&pen->page->unplaced, 1);
        return;
    }
    struct region *r = region_at(pen->page, region);
    begin_write(t);
    pen->nodes[n].inside = 1;
    pen->nodes[n].entered = time;
    t->node = n;
    t->hint = r->hint;
    if (t->depth++ == 0) {
        t->hash = r->hash;
        t->entered = time;
        t->work_total = t->work_done = 0;
        go_inside(pen->page, r, t, &pen->nodes[n], time);
    }
    end_write(t);
    leave_event(pen, ENTRY, r->hash, t->depth, time);
}

static void leave(struct pen *pen, double time) {
    struct thread *t = pen->slot;
    struct node *n = &pen->nodes[t->node];
    uint32_t depth = t->depth;
    begin_write(t);
    n->total += time - n->entered;
    n->count++;
    n->inside = 0;
    t->node = n->parent;
    t->depth = depth - 1;
    if (n->parent == 0) {
        t->hash = t->hint = 0;
        go_outside(pen->page, region_at(pen->page, n->region), t, n, time);
    } else {
        t->hint = region_at(pen->page, pen->nodes[n->parent].region)->hint;
    }
    end_write(t);
    leave_event(pen, EXIT, region_at(pen->page, n->region)->hash, depth, time);
}

/* Counts an exit out of order; the first one is said. */
static void misordered(struct pen *pen, uint32_t hash, const char *what) {
    add(&pen->page->misordered, 1);
    if (__atomic_exchange_n(&warned, 1, __ATOMIC_RELAXED)) return;
    uint32_t index = look_up(pen->page, hash, NULL, 0);
    const struct region *r = region_at(pen->page, index);
    char name[16];
    int length = index ? (int)r->name_bytes : snprintf(name, sizeof name, "0x%08x", hash);
    dprintf(2, "triscope: region '%.*s' was left %s; later cases are only counted\n", length,
            index ? (char *)at(pen->page, names) + r->name : name, what);
}

static int leave_misordered(struct pen *pen, uint32_t region, double time) {
    struct thread *t = pen->slot;
    uint32_t found = t->node;
    while (found && pen->nodes[found].region != region) found = pen->nodes[found].parent;
    misordered(pen, region_at(pen->page, region)->hash,
               found ? "while inside others, which are left too" : "without having been entered; ignored");
    if (!found) return -1;
    for (uint32_t stop = pen->nodes[found].parent; t->node != stop;) leave(pen, time);
    return -1;
}

static int leave_region(struct pen *pen, uint32_t region) {
    struct thread *t = pen->slot;
    double time = mark_time(pen->page, &pen->ticks);
    if (t->unplaced_depth) {
        t->unplaced_depth--;
        return 0;
    }
    if (!t->node || pen->nodes[t->node].region != region) return leave_misordered(pen, region, time);
    leave(pen, time);
    return 0;
}

int triscope_region(const char *name, int hint) {
    struct header *p = the_page();
    int known = hint >= TRISCOPE_HINT_UNSET && hint <= TRISCOPE_HINT_SPIN;
    if (!p || !name) return 0;
    return (int)name_region(p, name, crc32_of(name, strlen(name)), known ? (uint32_t)hint : TRISCOPE_HINT_UNKNOWN);
}

void triscope_enter(int region) {
    struct pen *pen = pen_here();
    if (pen && region >= 0 && region < REGIONS) enter(pen, (uint32_t)region);
}

int triscope_exit(int region) {
    struct pen *pen = pen_here();
    return pen && region >= 0 && region < REGIONS ? leave_region(pen, (uint32_t)region) : 0;
}

void triscope_epoch(void) {
    struct pen *pen = pen_here();
    if (!pen) return;
    for (uint32_t n = pen->slot->node; n; n = pen->nodes[n].parent) {
        if (region_at(pen->page, pen->nodes[n].region)->hint == TRISCOPE_HINT_IGNORE) return;
    }
    double time = mark_time(pen->page, &pen->ticks);
    uint32_t before = add(&pen->page->epochs, 1);
    if (before == 0) pen->page->first_epoch = time;
    pen->page->last_epoch = time;
    leave_event(pen, EPOCH, before + 1, 0, time);
}

void triscope_work(uint32_t units) {
    struct pen *pen = units > 1 ? pen_here() : NULL;
    if (!pen) return;
    pen->slot->work_total = units;
    pen->slot->work_done = 0;
    pen->slot->work_round = pen->page->round;
}

void triscope_work_done(void) {
    struct pen *pen = pen_here();
    if (!pen) return;
    struct thread *t = pen->slot;
    if (t->work_round != pen->page->round) {
        t->work_total = t->work_done = 0;
        t->work_round = pen->page->round;
    }
    t->work_done++;
}

void triscope_start(int mpi) {
    struct header *p = the_page();
    if (!p || !mpi) return; /* The page's making is the start: what was marked before MPI_Init counts, too. */
    __atomic_fetch_or(&p->flags, MPI, __ATOMIC_ACQ_REL);
}

void triscope_rank(int rank) {
    struct header *p = the_page();
    if (p) p->rank = rank;
}

void triscope_stop(int mpi) {
    struct header *p = page; /* not asked for at the end where nothing was marked */
    if (!p || (load(&p->flags) & STOPPED)) return;
    if ((load(&p->flags) & MPI) && !mpi) return;
    p->stopped = now(p);
    __atomic_fetch_or(&p->flags, STOPPED, __ATOMIC_ACQ_REL);
}

__attribute__((destructor)) static void at_exit(void) {
    if (page) triscope_stop((load(&page->flags) & MPI) != 0);
    if (page && mine && mine->page == page) store(&mine->slot->state, ENDED);
}

/* Processes end so too, children of fork() above all. What vfork() made has its parent's memory, and another id. */
void _exit(int status) {
    if (page && page->pid == (uint32_t)getpid()) triscope_stop((load(&page->flags) & MPI) != 0);
    for (;;) syscall(SYS_exit_group, status);
}
void _Exit(int status) { _exit(status); }

/* ---- GEOPM's names ------------------------------------------------------------------------------------------------ */

/* GEOPM's errors: an argument out of range; an exit without an entry. */
enum { GEOPM_RANGE = -3, GEOPM_RUNTIME = -1 };

/* Region of an id: the hash in the lower half, the hint above it. One that was made elsewhere is called by its hash. */
static uint32_t region_of_id(struct header *p, uint64_t id) {
    uint32_t hash = (uint32_t)id, index = look_up(p, hash, NULL, 0);
    if (index || load(&p->regions_used) >= REGIONS) return index;
    char name[16];
    snprintf(name, sizeof name, "0x%08x", hash);
    return name_region(p, name, hash, (uint32_t)(id >> 32));
}

int geopm_prof_region(const char *region_name, uint64_t hint, uint64_t *region_id) {
    if (!region_name || !region_id || hint > TRISCOPE_HINT_SPIN) return GEOPM_RANGE;
    struct header *p = the_page();
    *region_id = 0;
    if (!p) return 0;
    uint32_t hash = crc32_of(region_name, strlen(region_name));
    const struct region *r = region_at(p, name_region(p, region_name, hash, (uint32_t)hint));
    *region_id = (uint64_t)r->hint << 32 | r->hash;
    return 0;
}

int geopm_prof_enter(uint64_t region_id) {
    if (region_id >> 32 > TRISCOPE_HINT_SPIN) return GEOPM_RANGE;
    struct pen *pen = pen_here();
    if (pen) enter(pen, region_of_id(pen->page, region_id));
    return 0;
}

/* As in GEOPM the innermost region is left, whichever is named; that it was another is counted and said. */
int geopm_prof_exit(uint64_t region_id) {
    struct pen *pen = pen_here();
    if (!pen) return 0;
    struct thread *t = pen->slot;
    if (t->node && !t->unplaced_depth && region_at(pen->page, pen->nodes[t->node].region)->hash != (uint32_t)region_id) {
        misordered(pen, (uint32_t)region_id, "while inside another, which is left instead");
        leave(pen, mark_time(pen->page, &pen->ticks));
        return 0;
    }
    if (t->node || t->unplaced_depth) return leave_region(pen, t->node ? pen->nodes[t->node].region : 0);
    misordered(pen, (uint32_t)region_id, "without having been entered; ignored");
    return GEOPM_RUNTIME;
}

int geopm_prof_epoch(void) {
    triscope_epoch();
    return 0;
}

int geopm_prof_shutdown(void) {
    triscope_stop(0);
    return 0;
}

int geopm_prof_overhead(double overhead_sec) {
    struct header *p = the_page();
    if (p) p->overhead += overhead_sec;
    return 0;
}

int geopm_tprof_init(uint32_t num_work_unit) {
    triscope_work(num_work_unit);
    return 0;
}

int geopm_tprof_post(void) {
    triscope_work_done();
    return 0;
}
