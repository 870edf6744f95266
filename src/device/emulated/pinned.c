/* Ranges of host memory that are pinned, and mappings that are shared. */
#include "device/emulated/pinned.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct range {
    struct range *next;
    uintptr_t begin, end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *pinned;

static struct range *find(uintptr_t begin, uintptr_t end) {
    struct range *r = pinned;
    while (r && (r->end <= begin || r->begin >= end)) r = r->next;
    return r;
}

evn_status pinned_add(void *memory, size_t bytes) {
    struct range *r = malloc(sizeof *r);
    if (!r) return evn_fail(EVN_MEMORY, "not enough host memory");
    r->begin = (uintptr_t)memory;
    r->end = r->begin + bytes;
    pthread_mutex_lock(&lock);
    const int taken = find(r->begin, r->end) != NULL;
    if (!taken) {
        r->next = pinned;
        pinned = r;
    }
    pthread_mutex_unlock(&lock);
    if (!taken) return EVN_OK;
    free(r);
    return evn_fail(EVN_USAGE, "%zu bytes of host memory are registered already, or in part",
                    bytes);
}

void pinned_remove(void *memory) {
    pthread_mutex_lock(&lock);
    struct range **at = &pinned, *r;
    while ((r = *at) && r->begin != (uintptr_t)memory) at = &r->next;
    if (r) *at = r->next;
    pthread_mutex_unlock(&lock);
    free(r);
}

/* 1 if the mapping of an address is shared; lines are "BEGIN-END rw-s ..". */
static int is_shared(uintptr_t address) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], kind = 0;
    unsigned long long begin, end;
    int shared = 0;
    while (maps && !shared && fgets(line, sizeof line, maps))
        shared = sscanf(line, "%llx-%llx %*3c%c", &begin, &end, &kind) == 3 && kind == 's' &&
                 address >= begin && address < end;
    if (maps) fclose(maps);
    return shared;
}

enum host_kind host_kind_of(const void *memory, size_t bytes, int look) {
    const uintptr_t begin = (uintptr_t)memory;
    pthread_mutex_lock(&lock);
    const struct range *r = find(begin, begin + bytes);
    const int is_pinned = r && r->begin <= begin && begin + bytes <= r->end;
    pthread_mutex_unlock(&lock);
    return is_pinned ? HOST_PINNED : look && is_shared(begin) ? HOST_SHARED : HOST_PAGEABLE;
}
