/*
 * Marking of regions, epochs and progress: geopm_prof(3). Functions return 0, or a number of geopm_error.h. Without a
 * controller they do nothing and return 0. Any thread may call them.
 */
#ifndef TRISCOPE_GEOPM_PROF_H
#define TRISCOPE_GEOPM_PROF_H

#include <stddef.h>
#include <stdint.h>

#include "geopm_public.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Stores the number of the region of that name, for enter and exit, at `region_id`. `hint`: one of geopm_hint.h; the
 * first one of a name counts. GEOPM_ERROR_INVALID if a pointer is NULL or the hint is unknown.
 */
GEOPM_PUBLIC int geopm_prof_region(const char *region_name, uint64_t hint, uint64_t *region_id);
/* The calling thread enters the region. GEOPM_ERROR_INVALID if geopm_prof_region() did not give `region_id`. */
GEOPM_PUBLIC int geopm_prof_enter(uint64_t region_id);
/*
 * The calling thread leaves the innermost region, even if `region_id` is another one, which is counted.
 * GEOPM_ERROR_RUNTIME if it is in no region.
 */
GEOPM_PUBLIC int geopm_prof_exit(uint64_t region_id);
/* Counts an epoch of the process: a pass through the outermost loop begins. */
GEOPM_PUBLIC int geopm_prof_epoch(void);
/* The application's time ends. Without a call it ends when the process does. */
GEOPM_PUBLIC int geopm_prof_shutdown(void);
/* Adds `overhead_sec`, seconds that the program itself has spent on marking, to those that the report shows. */
GEOPM_PUBLIC int geopm_prof_overhead(double overhead_sec);
/* Announces that the process's threads together will do `num_work_unit` (2 or more) units of work in the region they are in. */
GEOPM_PUBLIC int geopm_tprof_init(uint32_t num_work_unit);
/* The calling thread has done one of the announced units. */
GEOPM_PUBLIC int geopm_tprof_post(void);

#ifdef __cplusplus
}
#endif
#endif
