/* map(..) of loops and data regions: memory that the program has not registered is registered for
 * as long as a clause has it. What the program has registered stays as it is. */
#include "cu/internal.h"

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

void evn_cu_map_begin(const evn_cu_site *site, evn_cu_map *map, int count) {
    begin(site, map, count);
    take(site, map, count);
}

void evn_cu_map_end(evn_cu_map *map, int count) {
    for (int i = count - 1; i >= 0; i--)
        if (map[i].ours) die(NULL, &map[i], cu_place_unmap(map[i].memory, 0));
}

void evn_cu_map_exit(const evn_cu_site *site, evn_cu_map *map, int count) {
    for (int i = 0; i < count; i++)
        if (map[i].memory && map[i].bytes)
            die(site, &map[i], cu_place_unmap(map[i].memory, map[i].how == EVN_CU_MAP_DELETE));
}

void evn_cu_map_home(const void *memory) {
    if (on_device() && cu_place_home(memory)) cu_die(NULL, "%p: %s", memory, evn_message());
}

void evn_cu_map_update(const evn_cu_site *site, evn_cu_map *map, int count) {
    for (int i = 0; i < count; i++)
        if (map[i].memory && map[i].bytes)
            die(site, &map[i],
                cu_place_update(map[i].memory, map[i].bytes, map[i].how == EVN_CU_MAP_FROM));
}
