/* Settings from the environment. */
#include "settings.h"
#include <cstdlib>

settings setting;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, nullptr, 0) : otherwise;
}

static std::string words(const char *name, const char *otherwise) {
    const char *text = getenv(name);
    return text && *text ? text : otherwise;
}

void settings_read() {
    setting.devices = number("PTXRUN_DEVICES", 1);
    setting.memory_mib = number("PTXRUN_MEMORY_MIB", 4096);
    setting.processors = number("PTXRUN_PROCESSORS", 132);
    setting.capability = number("PTXRUN_CC", 91);
    setting.has_peers = number("PTXRUN_PEER", 1);
    setting.seed = number("PTXRUN_SEED", 1);
    setting.is_checking = number("PTXRUN_CHECK", 1);
    setting.is_poisoning = number("PTXRUN_POISON", 0);
    setting.log = words("PTXRUN_LOG", "");
    setting.report = words("PTXRUN_REPORT", "");
    setting.cache = words("PTXRUN_CACHE", "/tmp/ptxrun-cache");
    setting.ptxas = words("PTXRUN_PTXAS", "ptxas");
    setting.compiler = words("PTXRUN_CCOMPILER", "cc -O1");
    setting.python = words("PTXRUN_PYTHON", "python3");
}
