/* By what number a region is known to traces and agents. */
#ifndef TRISCOPE_GEOPM_HASH_H
#define TRISCOPE_GEOPM_HASH_H

#include <stdint.h>

#include "geopm_public.h"

#ifdef __cplusplus
#include <string>
extern "C" {
#endif

enum geopm_region_hash_e { GEOPM_REGION_HASH_INVALID = 0x0, GEOPM_REGION_HASH_UNMARKED = 0x725e8066 };

/* CRC-32 (IEEE 802.3) of the bytes before the NUL. */
GEOPM_PUBLIC uint64_t geopm_crc32_str(const char *key);

#ifdef __cplusplus
}
namespace geopm {
inline uint64_t hash(const std::string &key) { return geopm_crc32_str(key.c_str()); }
}
#endif
#endif
