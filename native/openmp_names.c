/*
 * Names of parallel regions: the name of the enclosing function, in the form of its language. A second region
 * of a function is called function+0xOFFSET, one without a symbol file+0xOFFSET.
 */
#define _GNU_SOURCE
#include "openmp_names.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "triscope_region.h"

/* Copies the name of the function around `address` (as in the file) from the file's own symbol table; its start, or 0. */
static ElfW(Addr) function_in_file(const char *path, ElfW(Addr) address, char *name, size_t size) {
    ElfW(Addr) begin = 0;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(ElfW(Ehdr))) {
        close(fd);
        return 0;
    }
    size_t length = (size_t)status.st_size;
    const char *file = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED) return 0;
    const ElfW(Ehdr) *head = (const void *)file;
    const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
    int whole = memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_shoff > 0 && head->e_shoff < length &&
                head->e_shnum <= (length - head->e_shoff) / sizeof *sections;
    for (unsigned s = 0; whole && s < head->e_shnum && !begin; s++) {
        const ElfW(Shdr) *table = &sections[s];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= head->e_shnum) continue;
        const ElfW(Shdr) *strings = &sections[table->sh_link];
        if (table->sh_offset > length || table->sh_size > length - table->sh_offset) continue;
        if (strings->sh_offset > length || strings->sh_size > length - strings->sh_offset) continue;
        const ElfW(Sym) *symbols = (const void *)(file + table->sh_offset);
        for (size_t k = 0; k < table->sh_size / sizeof *symbols; k++) {
            const ElfW(Sym) *symbol = &symbols[k];
            if ((symbol->st_info & 0xf) != STT_FUNC || symbol->st_name >= strings->sh_size) continue;
            if (address < symbol->st_value || address - symbol->st_value >= symbol->st_size) continue;
            const char *text = file + strings->sh_offset + symbol->st_name;
            snprintf(name, size, "%.*s", (int)strnlen(text, strings->sh_size - symbol->st_name), text);
            begin = symbol->st_value;
            break;
        }
    }
    munmap((void *)file, length);
    return begin;
}

/* Name of the function around a return address, and the offset in it. `named`: whether it has a symbol. */
static ElfW(Addr) function_around(const void *address, char *name, size_t size, int *named) {
    Dl_info info;
    struct link_map *object = NULL;
    const char *at = (const char *)address - 1; /* the call itself, should it be a function's last instruction */
    *named = 1;
    if (!dladdr1(at, &info, (void **)&object, RTLD_DL_LINKMAP)) {
        *named = 0;
        snprintf(name, size, "openmp");
        return (ElfW(Addr))address;
    }
    const char *path = object && object->l_name && *object->l_name ? object->l_name : "/proc/self/exe";
    ElfW(Addr) in_file = (ElfW(Addr))at - (object ? object->l_addr : 0);
    ElfW(Addr) begin = function_in_file(path, in_file, name, size);
    if (begin) return in_file + 1 - begin;
    if (info.dli_sname && info.dli_saddr) {
        snprintf(name, size, "%s", info.dli_sname);
        return (ElfW(Addr))address - (ElfW(Addr))info.dli_saddr;
    }
    const char *base = strrchr(info.dli_fname, '/');
    *named = 0;
    snprintf(name, size, "%s", base ? base + 1 : info.dli_fname);
    return in_file + 1;
}

typedef char *demangler(const char *mangled, char *buffer, size_t *length, int *status);

/* The demangling function of a C++ program's own runtime; found once. */
static demangler *find_demangler(void) {
    static demangler *found;
    static int looked;
    if (!looked++) {
        void *runtime = RTLD_DEFAULT;
        *(void **)&found = dlsym(runtime, "__cxa_demangle");
        if (!found && (runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL))) {
            *(void **)&found = dlsym(runtime, "__cxa_demangle");
        }
    }
    return found;
}

/* As its language writes it: without what compilers append (solve._omp_fn.0, solve.omp_outlined), C++ and Fortran's modules
   demangled. */
static void make_readable(char *name, size_t size) {
    char *rest = *name ? strchr(name + 1, '.') : NULL;
    if (rest && *name != '.') *rest = 0;
    if (strncmp(name, "_Z", 2) == 0) {
        demangler *demangle = find_demangler();
        int status = 0;
        char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
        if (text && status == 0) snprintf(name, size, "%s", text);
        free(text);
    }
    char *procedure = strncmp(name, "__", 2) == 0 ? strstr(name + 2, "_MOD_") : NULL;
    if (procedure) { /* gfortran's __MODULE_MOD_PROCEDURE */
        char copy[1024];
        *procedure = 0;
        snprintf(copy, sizeof copy, "%s::%s", name + 2, procedure + 5);
        snprintf(name, size, "%s", copy);
    }
}

/* ---- Regions by where they begin --------------------------------------------------------------------------------- */

enum { KNOWN = 4096 };
static struct {
    const void *key;
    int region;
} known[KNOWN];
/* Names given without an offset, so that a second region of the function gets one. */
static char *plain[KNOWN];
static size_t plains;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_taken(const char *name) {
    for (size_t k = 0; k < plains; k++) {
        if (strcmp(plain[k], name) == 0) return 1;
    }
    if (plains < KNOWN) plain[plains++] = strdup(name);
    return 0;
}

static int name_region(const void *address, const void *body) {
    char function[1024], place[1024], name[1100];
    int named, placed;
    const void *inside = body ? (const char *)body + 1 : address;
    unsigned long offset = (unsigned long)function_around(inside, function, sizeof function, &named);
    if (named && body) offset = (unsigned long)function_around(address, place, sizeof place, &placed);
    if (named) make_readable(function, sizeof function);
    if (named && !is_taken(function)) snprintf(name, sizeof name, "%s", function);
    else snprintf(name, sizeof name, "%s+0x%lx", function, offset);
    return triscope_region(name, TRISCOPE_HINT_PARALLEL);
}

int openmp_region(const void *address, const void *body) {
    const void *key = body ? body : address;
    size_t begin = ((size_t)key >> 2) % KNOWN;
    for (size_t k = 0; k < KNOWN; k++) {
        const void *is = __atomic_load_n(&known[(begin + k) % KNOWN].key, __ATOMIC_ACQUIRE);
        if (is == key) return known[(begin + k) % KNOWN].region;
        if (is == NULL) break;
    }
    pthread_mutex_lock(&lock);
    int region = 0;
    for (size_t k = 0; k < KNOWN; k++) {
        size_t at = (begin + k) % KNOWN;
        if (known[at].key == key) {
            region = known[at].region;
            break;
        }
        if (known[at].key == NULL) {
            region = known[at].region = name_region(address, body);
            __atomic_store_n(&known[at].key, key, __ATOMIC_RELEASE);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return region;
}
