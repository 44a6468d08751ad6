/* The number by which traces and agents identify a region. */
#ifndef TRISCOPE_GEOPM_HASH_H
#define TRISCOPE_GEOPM_HASH_H

#include <stdint.h>

#include "geopm_public.h"

#ifdef __cplusplus
#include <string>
extern "C" {
#endif

enum geopm_region_hash_e { GEOPM_REGION_HASH_INVALID = 0x0, GEOPM_REGION_HASH_UNMARKED = 0x725e8066 };

/* The hash of a region's name: the CRC-32 (IEEE 802.3) of the bytes before the NUL, in the lower 32 bits. */
GEOPM_PUBLIC uint64_t geopm_crc32_str(const char *key);

#ifdef __cplusplus
}
namespace geopm {
/* The same for a C++ string. */
inline uint64_t hash(const std::string &key) { return geopm_crc32_str(key.c_str()); }
}
#endif
#endif
