/* Defects, told and counted. */
#include "defects.h"
#include "settings.h"
#include <cstdarg>
#include <cstring>
#include <map>

static FILE *log_file = stderr;
static std::map<std::string, long> told;
static long defects;

void defects_open() {
    FILE *file = setting.log.empty() ? nullptr : fopen(setting.log.c_str(), "a");
    log_file = file ? file : stderr;
}

FILE *defects_log() { return log_file; }

void tell(const char *kind, const std::string &where, const char *format, ...) {
    char words[900];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    if (strncmp(kind, "note", 4)) defects++;
    if (told[std::string(kind) + " | " + where]++) return;
    fprintf(log_file, "ptxrun: DEFECT %s: %s: %s\n", kind, where.c_str(), words);
    fflush(log_file);
}

void defects_summary() {
    if (log_file == stderr && !defects) return;
    fprintf(log_file, "ptxrun: %ld defects of %zu kinds\n", defects, told.size());
    for (auto &t : told) fprintf(log_file, "ptxrun: %8ld x %s\n", t.second, t.first.c_str());
    fflush(log_file);
}
