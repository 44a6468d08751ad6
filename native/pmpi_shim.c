/*
 * Makes every MPI call a region of its own name with hint NETWORK; the application's time is from MPI_Init to MPI_Finalize. Preloaded into
 * programs that are not marked (MPI's profiling interface: each MPI_X also exists as PMPI_X).
 *
 * `triscope region build-shims` makes pmpi_calls.h from the installed mpi.h: two lines for each call,
 *     CALL(MPI_Send, (const void *buf, int count, …), (buf, count, …))
 *     FORTRAN(MPI_Send, mpi_send, (word a0, word a1, …), (a0, a1, …))
 * It leaves out calls that this file defines, that do not return int, and that take `...`.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "triscope_region.h"

/* The cycle counter that programs read as a clock; 0 if there is none. */
static unsigned long long cycles(void) {
#if defined(__x86_64__)
    unsigned low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return (unsigned long long)high << 32 | low;
#elif defined(__aarch64__)
    unsigned long long now;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    return 0;
#endif
}

/* Cycles until the next note, doubled after each: about half a second to a minute. */
#if defined(__x86_64__)
#define NOTE_FIRST (1ULL << 29)
#define NOTE_MOST (1ULL << 37)
#else
#define NOTE_FIRST (1ULL << 24)
#define NOTE_MOST (1ULL << 32)
#endif
static unsigned long long note_wait = NOTE_FIRST;
/* A call from this cycle on notes the clock; never without a rank. */
static unsigned long long next_note = ~0ULL;
static int own_rank = -1;

/* Appends `rank process cycles wall` to FOLDER/rank-process: two moments tell what a cycle counter's times mean. */
static void note_clock(int rank) {
    const char *folder = getenv("TRISCOPE_CLOCK_DIR");
    unsigned long long best = ~0ULL, at = 0;
    long long wall = 0;
    if (folder == NULL || rank < 0 || cycles() == 0) return;
    /* Of several readings, the one that took least time. */
    for (int k = 0; k < 16; k++) {
        struct timespec now;
        unsigned long long before = cycles();
        clock_gettime(CLOCK_REALTIME, &now);
        unsigned long long took = cycles() - before;
        if (took >= best) continue;
        best = took;
        at = before + took / 2;
        wall = now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%d-%d", folder, rank, (int)getpid()) >= (int)sizeof path) return;
    FILE *file = fopen(path, "a");
    if (file == NULL) return;
    fprintf(file, "%d %d %llu %lld\n", rank, (int)getpid(), at, wall);
    fclose(file);
    note_wait = note_wait < NOTE_MOST ? 2 * note_wait : NOTE_MOST;
    __atomic_store_n(&next_note, at + note_wait, __ATOMIC_RELAXED);
}

/* Called now and then: a run that goes on, or is killed, has two moments after about a second. */
static void note_again(void) {
    unsigned long long due = __atomic_load_n(&next_note, __ATOMIC_RELAXED);
    if (due == ~0ULL || cycles() < due) return;
    /* Only one thread does it. */
    if (!__atomic_compare_exchange_n(&next_note, &due, ~0ULL, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    note_clock(own_rank);
}

static int enter(int *region, const char *name) {
    /* Two threads may both register the name: they get the same number. */
    int r = __atomic_load_n(region, __ATOMIC_RELAXED);
    if (r < 0) {
        r = triscope_region(name, TRISCOPE_HINT_NETWORK);
        __atomic_store_n(region, r, __ATOMIC_RELAXED);
    }
    note_again();
    triscope_enter(r);
    return r;
}

/* Its own names end in _, unlike MPI's parameters. */
#define CALL(name, parameters, arguments)     \
    int name parameters {                     \
        static int region_ = -1;              \
        int inside_ = enter(&region_, #name); \
        int result_ = P##name arguments;      \
        triscope_exit(inside_);               \
        return result_;                       \
    }

/* A word is what Fortran passes: the address of an argument or, at the end, the length of a text. */
typedef void *word;

/* Like CALL, for a symbol that Fortran programs call; `profiled` exists if the program has it. */
#define FORTRAN_SYMBOL(name, symbol, profiled, parameters, arguments) \
    extern void profiled parameters __attribute__((weak));            \
    void symbol parameters {                                          \
        static int region_ = -1;                                      \
        int inside_ = enter(&region_, #name);                         \
        profiled arguments;                                           \
        triscope_exit(inside_);                                       \
    }

/* The names that compilers use for mpif.h's and the mpi module's procedures, with one or two underscores, and for those of mpi_f08. */
#define FORTRAN(name, lower, parameters, arguments)                                   \
    FORTRAN_SYMBOL(name, lower##_, p##lower##_, parameters, arguments)                \
    extern void lower##__ parameters __attribute__((alias(#lower "_")));              \
    FORTRAN_SYMBOL(name, lower##_f08_, p##lower##_f08_, parameters, arguments)

#include "pmpi_calls.h"

static void say_rank(void) {
    int rank, is = 0;
    if (PMPI_Initialized(&is) != MPI_SUCCESS || !is) return;
    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS) return;
    triscope_rank(rank);
    own_rank = rank;
    note_clock(rank);
}

int MPI_Init(int *argc, char ***argv) {
    static int region = -1;
    triscope_start(1);
    int inside = enter(&region, "MPI_Init");
    int result = PMPI_Init(argc, argv);
    triscope_exit(inside);
    if (result == MPI_SUCCESS) say_rank();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    static int region = -1;
    triscope_start(1);
    int inside = enter(&region, "MPI_Init_thread");
    int result = PMPI_Init_thread(argc, argv, required, provided);
    triscope_exit(inside);
    if (result == MPI_SUCCESS) say_rank();
    return result;
}

int MPI_Finalize(void) {
    static int region = -1;
    int inside = enter(&region, "MPI_Finalize");
    note_clock(own_rank);
    int result = PMPI_Finalize();
    triscope_exit(inside);
    triscope_stop(1);
    return result;
}

/* ---- From Fortran ------------------------------------------------------------------------------------------------ */

#define FORTRAN_BEGIN(name, symbol, profiled, parameters, arguments) \
    extern void profiled parameters __attribute__((weak));           \
    void symbol parameters {                                         \
        static int region_ = -1;                                     \
        triscope_start(1);                                           \
        int inside_ = enter(&region_, #name);                        \
        profiled arguments;                                          \
        triscope_exit(inside_);                                      \
        say_rank();                                                  \
    }
#define FORTRAN_END(symbol, profiled)                  \
    extern void profiled(word) __attribute__((weak));  \
    void symbol(word error) {                          \
        static int region_ = -1;                       \
        int inside_ = enter(&region_, "MPI_Finalize"); \
        profiled(error);                               \
        triscope_exit(inside_);                        \
        triscope_stop(1);                              \
    }

/* `tail`: of a procedure's name, as above. */
#define FORTRAN_ENDS(tail)                                                                   \
    FORTRAN_BEGIN(MPI_Init, mpi_init##tail, pmpi_init##tail, (word error), (error))          \
    FORTRAN_BEGIN(MPI_Init_thread, mpi_init_thread##tail, pmpi_init_thread##tail,            \
                  (word required, word provided, word error), (required, provided, error))   \
    FORTRAN_END(mpi_finalize##tail, pmpi_finalize##tail)

FORTRAN_ENDS(_)
FORTRAN_ENDS(__)
FORTRAN_ENDS(_f08_)
