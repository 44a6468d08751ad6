/*
 * Makes every OpenMP parallel region a region with hint PARALLEL, named after its function. Loaded by OpenMP runtimes
 * that support OMPT (OpenMP 5.0, "Tool Interface"), such as LLVM's: OMP_TOOL_LIBRARIES names this library, or it is preloaded.
 */
#include <omp-tools.h>

#include <stdlib.h>

#include "openmp_names.h"
#include "triscope_region.h"

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned int threads,
                              int flags, const void *address) {
    (void)task, (void)frame, (void)threads, (void)flags;
    int region = openmp_region(address, NULL);
    parallel->value = (uint64_t)region + 1;
    triscope_enter(region);
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *address) {
    (void)task, (void)flags, (void)address;
    if (parallel->value) triscope_exit((int)(parallel->value - 1));
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool) {
    (void)device, (void)tool;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    if (!set) return 0;
    set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
    set(ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end);
    triscope_start(0);
    return 1;
}

static void finalize(ompt_data_t *tool) { (void)tool; }

ompt_start_tool_result_t *ompt_start_tool(unsigned int version, const char *runtime) {
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    const char *folder = getenv("TRISCOPE_REGION_DIR");
    (void)version, (void)runtime;
    return folder && *folder ? &result : NULL;
}
