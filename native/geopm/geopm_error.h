/* Numbers that functions of the library return on failure: geopm_error(3). */
#ifndef TRISCOPE_GEOPM_ERROR_H
#define TRISCOPE_GEOPM_ERROR_H

#include <stddef.h>

#include "geopm_public.h"

#ifdef __cplusplus
extern "C" {
#endif

enum geopm_error_e {
    GEOPM_ERROR_RUNTIME = -1,
    GEOPM_ERROR_LOGIC = -2,
    GEOPM_ERROR_INVALID = -3,
    GEOPM_ERROR_FILE_PARSE = -4,
    GEOPM_ERROR_LEVEL_RANGE = -5,
    GEOPM_ERROR_NOT_IMPLEMENTED = -6,
    GEOPM_ERROR_PLATFORM_UNSUPPORTED = -7,
    GEOPM_ERROR_MSR_OPEN = -8,
    GEOPM_ERROR_MSR_READ = -9,
    GEOPM_ERROR_MSR_WRITE = -10,
    GEOPM_ERROR_AGENT_UNSUPPORTED = -11,
    GEOPM_ERROR_AFFINITY = -12,
    GEOPM_ERROR_NO_AGENT = -13,
    GEOPM_ERROR_DATA_STORE = -14
};

/*
 * Writes a sentence about `err` (one of the numbers above, or a positive errno) into `msg`: at most `size` bytes, its NUL
 * included.
 */
GEOPM_PUBLIC void geopm_error_message(int err, char *msg, size_t size);

#ifdef __cplusplus
}
#endif
#endif
