/* map(..) of loops and data regions: memory that the program has not registered is registered for
 * as long as a clause has it. What the program has registered stays as it is. */
#include "cu/internal.h"

/* What a clause has made, and its end is to undo: memory registered, a section kept. */
enum { MEMORY = 1, SECTION = 2 };

static void die(const evn_cu_site *site, const evn_cu_map *m, evn_status status) {
    if (status) cu_die(site, "map of %s: %s", m->name, evn_message());
}

static int on_device(void) { return cu_here.unit && evn_cu_queue(); }

static void begin(const evn_cu_site *site, evn_cu_map *map, int count) {
    for (int i = 0; i < count; i++)
        if (map[i].memory && map[i].bytes)
            die(site, &map[i], cu_place_map(map[i].memory, map[i].bytes, &map[i].ours));
}

void evn_cu_map_loop(evn_cu_kernel *kernel, evn_cu_map *map, int count) {
    const evn_cu_site site = {.file = kernel->file, .line = kernel->line};
    if (on_device()) begin(&site, map, count);
    cu_here.map = map, cu_here.maps = count;
}

/* Within a unit's work a mapped array is taken there now. */
static void take(const evn_cu_site *site, const evn_cu_map *map, int count) {
    for (int i = 0; i < count && on_device(); i++) {
        evn_status status = EVN_OK;
        if (map[i].memory && map[i].bytes && map[i].how == EVN_CU_MAP_TO)
            cu_place_bring(map[i].memory, EVN_READ, &status);
        die(site, &map[i], status);
    }
}

/* Loops find these sections by the array's element 0. */
static void enter(const evn_cu_site *site, evn_cu_map *map, int count, const void *owner) {
    begin(site, map, count);
    for (int i = 0; i < count; i++) {
        die(site, &map[i], cu_section_add(&map[i], owner));
        map[i].ours |= SECTION;
    }
    take(site, map, count);
}

/* The leader whose target data this is: its sections may be another one's, too, of one array. */
static const void *owner(void) { return cu_here.unit ? &cu_here : NULL; }

void evn_cu_map_begin(const evn_cu_site *site, evn_cu_map *map, int count) {
    enter(site, map, count, owner());
}

void evn_cu_map_enter(const evn_cu_site *site, evn_cu_map *map, int count) {
    enter(site, map, count, NULL);
}

void evn_cu_map_end(evn_cu_map *map, int count) {
    for (int i = count - 1; i >= 0; i--) {
        if (map[i].ours & SECTION) cu_section_remove(&map[i], owner());
        if (map[i].ours & MEMORY) die(NULL, &map[i], cu_place_unmap(map[i].memory, 0));
    }
}

void evn_cu_map_exit(const evn_cu_site *site, evn_cu_map *map, int count) {
    for (int i = 0; i < count; i++) {
        cu_section_remove(&map[i], NULL);
        if (map[i].memory && map[i].bytes)
            die(site, &map[i], cu_place_unmap(map[i].memory, map[i].how == EVN_CU_MAP_DELETE));
    }
}

void evn_cu_map_home(const void *memory) {
    const void *part;
    for (int n = 0; on_device() && (part = cu_section(memory, n)); n++)
        if (cu_place_home(part)) cu_die(NULL, "%p: %s", memory, evn_message());
}

void evn_cu_map_update(const evn_cu_site *site, evn_cu_map *map, int count) {
    for (int i = 0; i < count; i++)
        if (map[i].memory && map[i].bytes)
            die(site, &map[i],
                cu_place_update(map[i].memory, map[i].bytes, map[i].how == EVN_CU_MAP_FROM));
}
