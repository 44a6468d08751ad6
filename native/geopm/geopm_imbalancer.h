/* Makes a part of a program longer by a fraction of its time: geopm_imbalancer(3). */
#ifndef TRISCOPE_GEOPM_IMBALANCER_H
#define TRISCOPE_GEOPM_IMBALANCER_H

#include "geopm_public.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fraction, 0 or more. Before the first call it is that of this host in the file that IMBALANCER_CONFIG names, a host and
   a fraction a line; else 0. */
GEOPM_PUBLIC int geopm_imbalancer_frac(double frac);
GEOPM_PUBLIC int geopm_imbalancer_enter(void);
/* Returns when the fraction of the time since enter has passed besides. */
GEOPM_PUBLIC int geopm_imbalancer_exit(void);

#ifdef __cplusplus
}
#endif
#endif
