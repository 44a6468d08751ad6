/* Regions for OpenMP's parallel regions, by the address at which they begin. */
#ifndef TRISCOPE_OPENMP_NAMES_H
#define TRISCOPE_OPENMP_NAMES_H

/* Returns the same number for the same region; any thread may call it. `address`: the return address of the call that begins it; `body`: the
   function that its threads run where it has one of its own that is named by it, as with GCC; else NULL. */
int openmp_region(const void *address, const void *body);

#endif
