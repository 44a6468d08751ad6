/*
 * Every MPI call is a region of its own name, hint NETWORK; MPI_Init to MPI_Finalize is the application. Preloaded into
 * programs that nobody marked (MPI's profiling interface: each MPI_X is also there as PMPI_X).
 *
 * pmpi_calls.h is made from the mpi.h of the MPI at hand by `triscope region build-shims`: one line for each call,
 *     CALL(MPI_Send, (const void *buf, int count, …), (buf, count, …))
 * It leaves out what is written here, what does not return int, and what takes `...`.
 */
#include <mpi.h>

#include "triscope_region.h"

static int enter(int *region, const char *name) {
    /* Two threads may both name it: they get the same number. */
    int r = __atomic_load_n(region, __ATOMIC_RELAXED);
    if (r < 0) {
        r = triscope_region(name, TRISCOPE_HINT_NETWORK);
        __atomic_store_n(region, r, __ATOMIC_RELAXED);
    }
    triscope_enter(r);
    return r;
}

/* Names of its own end in _, as MPI's parameters do not. */
#define CALL(name, parameters, arguments)     \
    int name parameters {                     \
        static int region_ = -1;              \
        int inside_ = enter(&region_, #name); \
        int result_ = P##name arguments;      \
        triscope_exit(inside_);               \
        return result_;                       \
    }

#include "pmpi_calls.h"

static void say_rank(void) {
    int rank;
    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS) triscope_rank(rank);
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
    int result = PMPI_Finalize();
    triscope_exit(inside);
    triscope_stop(1);
    return result;
}
