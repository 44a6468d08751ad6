/* Hints for geopm_prof_region(): what a region mostly does. Names and numbers are those of geopm_prof(3). */
#ifndef TRISCOPE_GEOPM_HINT_H
#define TRISCOPE_GEOPM_HINT_H

#include <stdint.h>

#include "geopm_public.h"

enum geopm_region_hint_e {
    GEOPM_REGION_HINT_UNSET = 0, /* in no region */
    GEOPM_REGION_HINT_UNKNOWN = 1,
    GEOPM_REGION_HINT_COMPUTE = 2,
    GEOPM_REGION_HINT_MEMORY = 3,
    GEOPM_REGION_HINT_NETWORK = 4,
    GEOPM_REGION_HINT_IO = 5,
    GEOPM_REGION_HINT_SERIAL = 6,
    GEOPM_REGION_HINT_PARALLEL = 7,
    GEOPM_REGION_HINT_IGNORE = 8, /* epochs within are not counted */
    GEOPM_REGION_HINT_INACTIVE = 9,
    GEOPM_REGION_HINT_SPIN = 10,
    GEOPM_NUM_REGION_HINT = 11
};

#endif
