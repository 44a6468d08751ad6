/* All of the marking interface: the header that programs before GEOPM 2 include. */
#ifndef TRISCOPE_GEOPM_H
#define TRISCOPE_GEOPM_H

#include "geopm_error.h"
#include "geopm_hint.h"
#include "geopm_prof.h"

#endif
