/*
 * Makes every OpenMP parallel region of programs that GCC compiled a region with hint PARALLEL. GCC's runtime has no OMPT, so this
 * library is preloaded and intercepts the calls that begin parallel regions. Source: GCC's manual of libgomp, "The libgomp
 * ABI". Programs of GCC that run on LLVM's runtime are left to ompt_tool.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "openmp_names.h"
#include "triscope_region.h"

typedef void body(void *);

/* The functions of the next library that has them; without one, the program could not have been started. */
static void *next(void **cell, const char *name) {
    void *found = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        if (!found) abort();
        __atomic_store_n(cell, found, __ATOMIC_RELEASE);
    }
    return found;
}

/* Enters the region that begins; -1 if another tool marks it. */
static int begin(const void *address, body *fn) {
    static int others = -1;
    int known = __atomic_load_n(&others, __ATOMIC_RELAXED);
    if (known < 0) {
        known = dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != NULL;
        __atomic_store_n(&others, known, __ATOMIC_RELAXED);
    }
    if (known) return -1;
    int region = openmp_region(address, (const void *)fn);
    triscope_enter(region);
    return region;
}

static void end(int region) {
    if (region >= 0) triscope_exit(region);
}

/* `parameters` begin with body *fn. */
#define PARALLEL(name, parameters, arguments)                 \
    void name parameters {                                    \
        static void *cell;                                    \
        void(*call) parameters = next(&cell, #name);          \
        int region = begin(__builtin_return_address(0), fn);  \
        call arguments;                                       \
        end(region);                                          \
    }

#define LOOP(name)                                                                                           \
    PARALLEL(name,                                                                                           \
             (body *fn, void *data, unsigned threads, long first, long last, long step, long chunk, unsigned flags), \
             (fn, data, threads, first, last, step, chunk, flags))

/* The size of chunks comes from the environment. */
#define RUNTIME_LOOP(name)                                                                              \
    PARALLEL(name, (body *fn, void *data, unsigned threads, long first, long last, long step, unsigned flags), \
             (fn, data, threads, first, last, step, flags))

PARALLEL(GOMP_parallel, (body *fn, void *data, unsigned threads, unsigned flags), (fn, data, threads, flags))
PARALLEL(GOMP_parallel_sections, (body *fn, void *data, unsigned threads, unsigned count, unsigned flags),
         (fn, data, threads, count, flags))
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

unsigned GOMP_parallel_reductions(body *fn, void *data, unsigned threads, unsigned flags) {
    static void *cell;
    unsigned (*call)(body *, void *, unsigned, unsigned) = next(&cell, "GOMP_parallel_reductions");
    int region = begin(__builtin_return_address(0), fn);
    unsigned team = call(fn, data, threads, flags);
    end(region);
    return team;
}
