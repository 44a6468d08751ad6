/* Points in time, and the seconds between them: geopm_time(3). */
#ifndef TRISCOPE_GEOPM_TIME_H
#define TRISCOPE_GEOPM_TIME_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "geopm_public.h"

/* A point in time by one of the two clocks below. */
struct geopm_time_s {
    struct timespec t;
};

/* Stores the time of CLOCK_MONOTONIC_RAW, which is never set or slewed. Returns 0, or -1 as clock_gettime(2). */
static inline int geopm_time(struct geopm_time_s *time) { return clock_gettime(CLOCK_MONOTONIC_RAW, &time->t); }

/* Stores the time of day (CLOCK_REALTIME). Returns 0, or -1 as clock_gettime(2). */
static inline int geopm_time_real(struct geopm_time_s *time) { return clock_gettime(CLOCK_REALTIME, &time->t); }

/* Returns the seconds from `begin` to `end`; negative if `end` is earlier. */
static inline double geopm_time_diff(const struct geopm_time_s *begin, const struct geopm_time_s *end) {
    return (double)(end->t.tv_sec - begin->t.tv_sec) + 1e-9 * (double)(end->t.tv_nsec - begin->t.tv_nsec);
}

/* Returns whether `aa` is before `bb`. */
static inline bool geopm_time_comp(const struct geopm_time_s *aa, const struct geopm_time_s *bb) {
    return aa->t.tv_sec != bb->t.tv_sec ? aa->t.tv_sec < bb->t.tv_sec : aa->t.tv_nsec < bb->t.tv_nsec;
}

/* Stores the time `elapsed` seconds after `begin` (before it, if negative) at `end`. */
static inline void geopm_time_add(const struct geopm_time_s *begin, double elapsed, struct geopm_time_s *end) {
    time_t whole = (time_t)elapsed;
    end->t.tv_sec = begin->t.tv_sec + whole;
    end->t.tv_nsec = begin->t.tv_nsec + (long)((elapsed - (double)whole) * 1e9);
    long carry = end->t.tv_nsec >= 1000000000 ? 1 : end->t.tv_nsec < 0 ? -1 : 0;
    end->t.tv_sec += carry;
    end->t.tv_nsec -= carry * 1000000000;
}

/* Returns the seconds since `begin`, which geopm_time() stored. */
static inline double geopm_time_since(const struct geopm_time_s *begin) {
    struct geopm_time_s now;
    geopm_time(&now);
    return geopm_time_diff(begin, &now);
}

/*
 * Writes the time of day, such as 2026-11-21T01:56:58.346487912+0000, into `buf`. Returns 0, or -3 if `buf_size` bytes
 * do not hold it.
 */
static inline int geopm_time_string(int buf_size, char *buf) {
    struct geopm_time_s now;
    struct tm parts;
    char day[32], zone[8];
    geopm_time_real(&now);
    localtime_r(&now.t.tv_sec, &parts);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    strftime(zone, sizeof zone, "%z", &parts);
    return snprintf(buf, (size_t)buf_size, "%s.%09ld%s", day, now.t.tv_nsec, zone) < buf_size ? 0 : -3;
}

#endif
