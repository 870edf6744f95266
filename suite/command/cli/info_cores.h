/* Cores in `evener info`: this process's cores and the reasons, their kinds, and a picture of
 * parts. */
#pragma once

#include <evener/machine.h>

void info_print_cores(const evn_machine *machine);
void info_print_picture(const evn_machine *machine);

/* "32 MiB" */
const char *info_size(double bytes, char text[32]);

/* Number of a back end's devices, 0 with the reason why there are none. The devices of a machine
 * that is not here are not known, and this node's are not its own. */
int info_devices(const evn_machine *m, const char *name, char *why, size_t size);
