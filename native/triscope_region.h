/*
 * Marking of regions from C, C++ and Fortran, for `triscope region launch`. One C file beside this one is the library.
 *
 *     int solve = triscope_region("solve", TRISCOPE_HINT_COMPUTE);
 *     triscope_enter(solve);
 *     …
 *     triscope_exit(solve);
 *
 * What is marked is kept on the process's region page (docs/region-page.md), in the folder that the environment variable
 * TRISCOPE_REGION_DIR names; without it marks do nothing. Any thread may mark; a child made by fork() gets a page of its
 * own. Nothing fails in a way that a program would have to handle.
 */
#ifndef TRISCOPE_REGION_H
#define TRISCOPE_REGION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a region mostly does. Names and numbers are GEOPM's. */
enum triscope_hint {
    TRISCOPE_HINT_UNSET = 0,
    TRISCOPE_HINT_UNKNOWN = 1,
    TRISCOPE_HINT_COMPUTE = 2,
    TRISCOPE_HINT_MEMORY = 3,
    TRISCOPE_HINT_NETWORK = 4,
    TRISCOPE_HINT_IO = 5,
    TRISCOPE_HINT_SERIAL = 6,
    TRISCOPE_HINT_PARALLEL = 7,
    TRISCOPE_HINT_IGNORE = 8,
    TRISCOPE_HINT_INACTIVE = 9,
    TRISCOPE_HINT_SPIN = 10
};

/*
 * Returns the number of the region called `name` (UTF-8, or any other bytes), for triscope_enter() and triscope_exit().
 * Of several calls with one name the first determines the hint; an unknown hint becomes TRISCOPE_HINT_UNKNOWN. Returns 0
 * (the region "(overflow)") if `name` is NULL, if nothing is measured, or if the process has 4095 regions already.
 */
int triscope_region(const char *name, int hint);
/* The calling thread enters the region. Regions nest; a number that is out of range is ignored. */
void triscope_enter(int region);
/*
 * The calling thread leaves the region. Returns 0, or -1 if it was not the innermost one: the regions inside it are then
 * left, too; if it was never entered, nothing is left. Either is counted, and the first prints a warning on stderr.
 */
int triscope_exit(int region);
/* Counts an epoch of the process: a pass through the outermost loop begins. Ignored in regions with TRISCOPE_HINT_IGNORE. */
void triscope_epoch(void);
/* Announces that the process's threads together will do `units` (2 or more) units of work in the region they are in. */
void triscope_work(uint32_t units);
/* The calling thread has done one of the announced units. */
void triscope_work_done(void);
/* The application's time begins, unless it has: it begins with the first mark. `mpi`: not 0 if MPI_Finalize is to end it. */
void triscope_start(int mpi);
/*
 * The application's time ends; the first call counts. After triscope_start(1) only triscope_stop(1) ends it, as
 * MPI_Finalize does. Without a call it ends when the process does. What is marked afterwards is ignored.
 */
void triscope_stop(int mpi);
/* Sets the process's MPI rank, if the launcher's environment does not have it. */
void triscope_rank(int rank);

/*
 * GEOPM's marking API, which geopm/geopm_prof.h declares for programs that are marked for GEOPM: see geopm_prof(3). All
 * return 0, or a number of geopm/geopm_error.h. Without a controller they do nothing and return 0.
 */

/*
 * Stores the number of the region of that name, for enter and exit, at `region_id`. The first hint of a name counts.
 * Returns -3 (invalid argument) if a pointer is NULL or the hint is unknown.
 */
int geopm_prof_region(const char *region_name, uint64_t hint, uint64_t *region_id);
/* The calling thread enters the region. Returns -3 if geopm_prof_region() did not give `region_id`. */
int geopm_prof_enter(uint64_t region_id);
/*
 * The calling thread leaves the innermost region, even if `region_id` is another one, which is counted. Returns -1
 * (runtime error) if it is in no region.
 */
int geopm_prof_exit(uint64_t region_id);
/* As triscope_epoch(). */
int geopm_prof_epoch(void);
/* The application's time ends, as with triscope_stop(0). */
int geopm_prof_shutdown(void);
/* Adds `overhead_sec`, seconds that the program itself has spent on marking, to those that the report shows. */
int geopm_prof_overhead(double overhead_sec);
/* Announces units of work, as triscope_work(). */
int geopm_tprof_init(uint32_t num_work_unit);
/* One unit is done, as triscope_work_done(). */
int geopm_tprof_post(void);

#ifdef __cplusplus
}
#endif
#endif
