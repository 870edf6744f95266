/* No wires from shared objects. */
#include "wire/plugin_none.h"

__attribute__((weak)) int wire_plugin_detected(void) { return 0; }
__attribute__((weak)) int wire_plugin_rank(void) { return -1; }

__attribute__((weak)) evn_status wire_plugin_load(const char *file, const evn_wire_kind **kind,
                                                  void **library) {
    (void)file;
    *kind = NULL;
    *library = NULL;
    return evn_fail(EVN_MISSING, "wire: this build has no plug-ins for MPI");
}

__attribute__((weak)) evn_status wire_plugin_check(const evn_wire_kind *kind,
                                                   const evn_wire *wire) {
    (void)kind, (void)wire;
    return EVN_OK;
}
