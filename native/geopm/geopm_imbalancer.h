/* Makes a part of a program longer by a fraction of its time: geopm_imbalancer(3). */
#ifndef TRISCOPE_GEOPM_IMBALANCER_H
#define TRISCOPE_GEOPM_IMBALANCER_H

#include "geopm_public.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sets the fraction, 0 or more (0.1: a tenth longer); GEOPM_ERROR_INVALID for any other number. Until the first call it is
 * the one of this host in the file that IMBALANCER_CONFIG names, whose lines have a host and a fraction; without it, 0.
 */
GEOPM_PUBLIC int geopm_imbalancer_frac(double frac);
/* The part begins, in the calling thread. Returns 0. */
GEOPM_PUBLIC int geopm_imbalancer_enter(void);
/* The part ends: returns 0 when the thread has computed for that fraction of the time since enter in addition. */
GEOPM_PUBLIC int geopm_imbalancer_exit(void);

#ifdef __cplusplus
}
#endif
#endif
