/* Marking of regions, epochs and progress: geopm_prof(3). Functions return 0, or a number of geopm_error.h. */
#ifndef TRISCOPE_GEOPM_PROF_H
#define TRISCOPE_GEOPM_PROF_H

#include <stddef.h>
#include <stdint.h>

#include "geopm_public.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The region of that name, for enter and exit. `hint`: of geopm_hint.h; the first one that a name is given stays. */
GEOPM_PUBLIC int geopm_prof_region(const char *region_name, uint64_t hint, uint64_t *region_id);
GEOPM_PUBLIC int geopm_prof_enter(uint64_t region_id);
GEOPM_PUBLIC int geopm_prof_exit(uint64_t region_id);
/* A pass through the outermost loop begins. */
GEOPM_PUBLIC int geopm_prof_epoch(void);
/* The application's time ends here. */
GEOPM_PUBLIC int geopm_prof_shutdown(void);
/* Seconds that the program itself has spent on marking. */
GEOPM_PUBLIC int geopm_prof_overhead(double overhead_sec);
/* All threads together will do that many units of work in the present region; one of them is done. */
GEOPM_PUBLIC int geopm_tprof_init(uint32_t num_work_unit);
GEOPM_PUBLIC int geopm_tprof_post(void);

#ifdef __cplusplus
}
#endif
#endif
