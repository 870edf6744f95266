/* Reading --slow. */
#include "workload/slow.h"
#include "common/message.h"
#include <math.h>
#include <stdio.h>

int slow_read(struct slow *s, const char *text, const evn_units *units, int real) {
    *s = (struct slow){.unit = -1, .factor = 1};
    if (!text) return 0;
    struct slow read;
    int end = 0;
    const int right =
        sscanf(text, "%d:%lf@%ld%n", &read.unit, &read.factor, &read.step, &end) == 3 &&
        !text[end] && read.step >= 0 && read.step <= 1000000000 &&
        (real ? read.factor >= 1 && read.factor <= 1000 : read.factor > 0 && isfinite(read.factor));
    if (!right) {
        complain("--slow %s: expected UNIT:FACTOR@STEP, as 1:2@100 for a unit 1 that takes 2 times "
                 "as long from step 100 on; steps count from 0, factors are %s",
                 text, real ? "from 1 to 1000" : "above 0");
        return EXIT_USAGE;
    }
    *s = read;
    if (!units) return 0;
    if (read.unit < 0 || read.unit >= evn_units_count(units)) {
        complain("--slow %s: there is no unit %d, units are 0 to %d", text, read.unit,
                 evn_units_count(units) - 1);
        return EXIT_USAGE;
    }
    if (real && !evn_unit_is_cpu(evn_units_get(units, read.unit))) {
        complain("--slow %s: unit %d is no CPU unit among %s", text, read.unit,
                 evn_units_text(units));
        return EXIT_USAGE;
    }
    return 0;
}
