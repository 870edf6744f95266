/* The devices of GPU units. */
#include "unit/internal.h"
#include "device/devices.h"
#include <stdio.h>
#include <stdlib.h>

evn_status unit_devices_count(const char *devices, int *count) {
    char why[512];
    *count = 0;
    return devices ? evn_devices_count(devices, count, why, sizeof why) : devices_count_gpus(count);
}

/* Default source of FPGAs. */
static const char FPGAS[] = "opencl:type=accelerator";

/* Device number `d` of the unit, with a queue; in *clock whether all so far are virtual. */
static evn_status open_one(evn_unit *u, int d, const char *devices, int *clock) {
    /* a leader that looks again and again would take half of a core from another's tasks */
    evn_status status = device_open(&u->gpu[d], devices, u->device + d, u->all->crowded);
    if (!status) status = evn_queue_open(&u->queue[d], u->gpu[d]);
    if (status) return status;
    if (u->family == UNIT_FPGA && u->gpu[d]->accelerator == DEVICE_OTHER)
        return evn_fail(
            EVN_MISSING,
            "units: unit %d of \"%s\" is of FPGAs, and device %d of --devices %s is %s; "
            "expected OpenCL's accelerators (opencl:type=accelerator) or emulated ones",
            u->number, u->all->text, u->device + d, devices, evn_device_traits(u->gpu[d])->name);
    const int is_virtual = evn_device_traits(u->gpu[d])->clock_is_virtual;
    if (*clock >= 0 && *clock != is_virtual)
        return evn_fail(EVN_USAGE,
                        "units: --devices %s has real and virtual clocks, whose times do not go "
                        "together; say clock=virtual of all or of none",
                        devices);
    *clock = is_virtual;
    return EVN_OK;
}

static evn_status too_few(const evn_units *all, const char *devices, int count, const char *why) {
    const char *any = devices_any_number();
    char hint[128] = "";
    if (any) snprintf(hint, sizeof hint, "; --devices %s gives any number", any);
    return evn_fail(EVN_MISSING,
                    "units: \"%s\" asks for %d device%s, and --devices %s gives %d%s%s%s",
                    all->text, all->devices, all->devices == 1 ? "" : "s", devices, count,
                    *why ? ": " : "", why, hint);
}

evn_status unit_devices_open(evn_units *all, const char *devices) {
    char why[512] = "", own[256];
    int count = 0, clock = -1;
    if (!devices) devices = all->fpgas && all->fpgas == all->gpus ? FPGAS : "best";
    evn_status status = devices_count_for(&devices, own, all->devices, &count, why, sizeof why);
    if (status) return status;
    if (count < all->devices) return too_few(all, devices, count, why);
    for (int i = 0; !status && i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        if (!u->devices) continue;
        u->gpu = calloc((size_t)u->devices, sizeof *u->gpu);
        u->queue = calloc((size_t)u->devices, sizeof *u->queue);
        if (!u->gpu || !u->queue) return evn_fail(EVN_MEMORY, "units: not enough memory");
        for (int d = 0; !status && d < u->devices; d++) status = open_one(u, d, devices, &clock);
    }
    return status;
}

void unit_devices_close(evn_unit *u) {
    for (int d = 0; d < u->devices; d++) {
        if (u->queue) evn_queue_close(u->queue[d]);
        if (u->gpu) evn_device_close(u->gpu[d]);
    }
    free(u->queue);
    free(u->gpu);
    u->queue = NULL;
    u->gpu = NULL;
    u->devices = 0;
}
