/* Loaded into the program by the torture test: cuts what is read and written short, or lets one
   allocation fail. The programs that it starts are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static long fails_at, allocations, calls, shortens;
static const char *count_file;

static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_copy)(int, off64_t *, int, off64_t *, size_t, unsigned);

__attribute__((constructor)) static void begin(void) {
    real_read = dlsym(RTLD_NEXT, "read");
    real_write = dlsym(RTLD_NEXT, "write");
    real_copy = dlsym(RTLD_NEXT, "copy_file_range");
    shortens = getenv("TORTURE_SHORT") != NULL;
    count_file = getenv("TORTURE_COUNT");
    const char *at = getenv("TORTURE_ALLOCATION");
    unsetenv("LD_PRELOAD");
    allocations = 0;
    fails_at = at ? atol(at) : 0;
}

__attribute__((destructor)) static void end(void) {
    if (!count_file) return;
    long count = allocations;
    FILE *file = fopen(count_file, "w");
    if (file) { fprintf(file, "%ld", count); fclose(file); }
}

/* One byte, or a few. */
static size_t cut(size_t count) {
    if (!shortens) return count;
    size_t most = 1 + __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 61;
    return count < most ? count : most;
}

ssize_t read(int fd, void *bytes, size_t count) { return real_read(fd, bytes, cut(count)); }
ssize_t write(int fd, const void *bytes, size_t count) { return real_write(fd, bytes, cut(count)); }
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t count, unsigned flags) {
    return real_copy(in, from, out, to, cut(count), flags);
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int fails(void) {
    if (__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) != fails_at) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
int posix_memalign(void **out, size_t align, size_t size) {
    if (fails()) return ENOMEM;
    *out = __libc_memalign(align, size);
    return *out ? 0 : ENOMEM;
}
