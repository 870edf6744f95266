/* Reading --slow. */
#include "run/slow.h"
#include "common/cli/message.h"
#include <evener/number.h>
#include <evener/unit.h>
#include <limits.h>
#include <string.h>

/* UNIT:FACTOR@STEP, its parts as they are read; the message tells which of them is wrong. */
static evn_status read_parts(struct slow *s, const char *text, int real) {
    char copy[96];
    if (strlen(text) >= sizeof copy) return evn_fail(EVN_USAGE, "too long");
    strcpy(copy, text);
    char *factor = strchr(copy, ':'), *step = factor ? strchr(factor, '@') : NULL;
    if (!step) return evn_fail(EVN_USAGE, "there is no : with an @ behind it");
    *factor++ = *step++ = 0;
    long unit;
    const evn_bounds bounds = {real ? 1 : 1e-100, real ? 1000 : 1e100, 0};
    evn_status status = evn_read_whole(copy, 0, INT_MAX, &unit);
    if (!status) status = evn_read_real(factor, bounds, &s->factor);
    if (!status) status = evn_read_whole(step, 0, 1000000000, &s->step);
    if (!status) s->unit = (int)unit;
    return status;
}

int slow_read(struct slow *s, const char *text, const evn_units *units, int real) {
    *s = (struct slow){.unit = -1, .factor = 1};
    if (!text) return 0;
    struct slow read;
    if (read_parts(&read, text, real))
        return complain("--slow %s: %s; as UNIT:FACTOR@STEP, 1:2@100 for a unit 1 that takes 2 "
                        "times as long from step 100 on; steps count from 0, factors are %s",
                        text, evn_message(), real ? "from 1 to 1000" : "from 1e-100 to 1e100");
    *s = read;
    if (!units) return 0;
    if (read.unit < 0 || read.unit >= evn_units_count(units))
        return complain("--slow %s: there is no unit %d, units are 0 to %d", text, read.unit,
                        evn_units_count(units) - 1);
    if (real && evn_unit_is_gpu(evn_units_get(units, read.unit)))
        return complain("--slow %s: unit %d is no CPU unit among %s", text, read.unit,
                        evn_units_text(units));
    return 0;
}

int slow_among(struct slow *s, const char *text, int units) {
    int code = slow_read(s, text, NULL, 1);
    if (code || s->unit < units) return code;
    return complain("--slow %s: there is no unit %d, units of all ranks are 0 to %d", text, s->unit,
                    units - 1);
}

int slow_begins(const struct slow *s, const char *text, long steps) {
    if (s->unit < 0 || s->step < steps) return 0;
    return complain("--slow %s: there is no step %ld among %ld, which count from 0", text, s->step,
                    steps);
}
