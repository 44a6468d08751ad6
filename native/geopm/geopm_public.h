/* Which functions programs can call, and which only the library itself. */
#ifndef TRISCOPE_GEOPM_PUBLIC_H
#define TRISCOPE_GEOPM_PUBLIC_H

#define GEOPM_PUBLIC __attribute__((visibility("default")))
#define GEOPM_PRIVATE __attribute__((visibility("hidden")))

#endif
