/*
 * A C application with marked regions, and GEOPM's calls beside ours:
 *
 *     cc -O2 -I native -o region-app examples/region-app.c native/triscope_region.c -pthread &&
 *         triscope region launch -- ./region-app
 */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "triscope_region.h"

int main(void) {
    int compute = triscope_region("arithmetic", TRISCOPE_HINT_COMPUTE);
    uint64_t wait;
    double sum = 0;
    geopm_prof_region("wait", TRISCOPE_HINT_IO, &wait);
    for (int step = 0; step < 20; step++) {
        triscope_epoch();
        triscope_enter(compute);
        for (int k = 1; k < 5000000; k++) sum += 1.0 / k;
        triscope_exit(compute);
        geopm_prof_enter(wait);
        usleep(5000);
        geopm_prof_exit(wait);
    }
    printf("%g\n", sum);
    return 0;
}
