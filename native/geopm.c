/*
 * What programs marked for GEOPM find in libgeopm.so besides the marking itself. The library consists of this file and
 * triscope_region.c. Documented in geopm_imbalancer(3) and geopm_error(3).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geopm/geopm_error.h"
#include "geopm/geopm_hash.h"
#include "geopm/geopm_imbalancer.h"
#include "geopm/geopm_time.h"

/* ---- Imbalance --------------------------------------------------------------------------------------------------- */

static double fraction;
static pthread_once_t configured = PTHREAD_ONCE_INIT;
static __thread struct geopm_time_s entered;

/* The delay of this host as a fraction, from the file that IMBALANCER_CONFIG names. */
static void configure(void) {
    const char *path = getenv("IMBALANCER_CONFIG");
    char own[256] = "", host[256], line[512];
    double wish;
    if (!path || !*path) return;
    FILE *file = fopen(path, "re");
    if (!file) {
        fprintf(stderr, "triscope: IMBALANCER_CONFIG %s cannot be read: nothing is delayed\n", path);
        return;
    }
    gethostname(own, sizeof own - 1);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%255s %lf", host, &wish) == 2 && strcmp(host, own) == 0 && wish >= 0) fraction = wish;
    }
    fclose(file);
}

int geopm_imbalancer_frac(double frac) {
    pthread_once(&configured, configure);
    if (!(frac >= 0)) return GEOPM_ERROR_INVALID;
    fraction = frac;
    return 0;
}

int geopm_imbalancer_enter(void) {
    pthread_once(&configured, configure);
    return geopm_time(&entered);
}

int geopm_imbalancer_exit(void) {
    if (fraction > 0) {
        double until = (1 + fraction) * geopm_time_since(&entered);
        while (geopm_time_since(&entered) < until) continue;
    }
    return 0;
}

/* ---- Errors and hashes ------------------------------------------------------------------------------------------- */

void geopm_error_message(int err, char *msg, size_t size) {
    static const char *const said[] = {
        "Success",
        "Runtime error",
        "Logic error",
        "Invalid argument",
        "File cannot be parsed",
        "Level is out of range",
        "Not implemented",
        "Platform not supported",
        "MSR device cannot be opened",
        "MSR cannot be read",
        "MSR cannot be written",
        "Agent not supported",
        "CPU affinity does not fit",
        "No such agent",
        "Data store failed",
    };
    int known = (int)(sizeof said / sizeof *said);
    if (!msg || size == 0) return;
    if (err <= 0 && -err < known) snprintf(msg, size, "<geopm> %s", said[-err]);
    else snprintf(msg, size, "<geopm> %s", err > 0 ? strerror(err) : "Unknown error");
}

uint64_t geopm_crc32_str(const char *key) {
    uint32_t crc = 0xffffffffu;
    for (; *key; key++) {
        crc ^= (unsigned char)*key;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return (uint32_t)~crc;
}
