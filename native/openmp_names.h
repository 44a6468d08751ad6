/* Regions of OpenMP's parallel regions, by the address where they begin. */
#ifndef TRISCOPE_OPENMP_NAMES_H
#define TRISCOPE_OPENMP_NAMES_H

/* The same number for the same region; any thread may ask. `address`: where the call that begins it returns to; `body`: the
   function that its threads run where it has one of its own that is named by it, as with GCC; else NULL. */
int openmp_region(const void *address, const void *body);

#endif
