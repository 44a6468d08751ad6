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

/* Numbers are GEOPM's. */
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

/* The region called `name` (UTF-8, but any bytes do), for enter and exit. The first hint that a name is given stays. */
int triscope_region(const char *name, int hint);
void triscope_enter(int region);
/* 0, or -1 where `region` was not the innermost one: regions entered since are left too; never entered: nothing. */
int triscope_exit(int region);
/* A pass through the outermost loop of the application begins. */
void triscope_epoch(void);
/* `units` of work will be done in the present region by this thread; one of them is done. */
void triscope_work(uint32_t units);
void triscope_work_done(void);
/* The application's time begins (else: with the first mark) and ends (else: at exit). `mpi`: as MPI_Init and
   MPI_Finalize say, which nothing else overrides. */
void triscope_start(int mpi);
void triscope_stop(int mpi);
/* The process's MPI rank, where the environment does not tell it. */
void triscope_rank(int rank);

/* GEOPM's marking API (geopm_prof(3)), as geopm/geopm_prof.h has it for programs marked for GEOPM. 0, or a negative number. */
int geopm_prof_region(const char *region_name, uint64_t hint, uint64_t *region_id);
int geopm_prof_enter(uint64_t region_id);
int geopm_prof_exit(uint64_t region_id);
int geopm_prof_epoch(void);
int geopm_prof_shutdown(void);
int geopm_prof_overhead(double overhead_sec);
int geopm_tprof_init(uint32_t num_work_unit);
int geopm_tprof_post(void);

#ifdef __cplusplus
}
#endif
#endif
