/* Proofs of the exact schedule on BT-MZ's zones: classes B, C and D on 2 and 4 equal units,
 * for links from free to so slow that they decide.
 *
 * A unit's speed is taken from what was published for one GPU in this role: 2.96 ms for an average
 * zone of class D (1632 x 1216 x 34 points in 1024 zones), 22.3 million points a second. V100s on
 * NVLink: three links of 25 GB/s each way to the GPU beside it, 75 GB/s. The other speeds are what
 * a staged copy over PCIe 3 gives, and links 37 and 375 times slower than NVLink, to see where
 * communication begins to matter and what is then still proven. 0: exchange is free.
 *
 *     optimal_table [LIMIT [GAP [CLASSES]]]     (60, 0.01, BCD)
 */
#include "npbmz/npbmz.h"
#include "policy/optimal/bound.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    const char *limit = argc > 1 ? argv[1] : "60", *gap = argc > 2 ? argv[2] : "0.01",
               *classes = argc > 3 ? argv[3] : "BCD";
    static const double bandwidth[] = {0, 75e9, 12e9, 2e9, 0.2e9};
    const double speed = 1632. * 1216 * 34 / 1024 / 2.96e-3;
    const double speeds[4] = {speed, speed, speed, speed};
    char text[96];
    snprintf(text, sizeof text, "optimal:limit=%s,gap=%s", limit, gap);
    printf("BT-MZ under %s; units of %.1f million points/s\n\n", text, speeds[0] / 1e6);
    printf("class  units  link GB/s    ms/step   bound ms    gap %%  links %%  seconds  nodes  "
           "found by; proven by\n");
    for (const char *c = classes; *c; c++)
        for (int units = 2; units <= 4; units += 2)
            for (size_t b = 0; b < sizeof bandwidth / sizeof *bandwidth; b++) {
                npbmz *problem;
                evn_schedule *s;
                if (npbmz_open(&problem, NPBMZ_BT, *c)) {
                    fprintf(stderr, "%s\n", evn_message());
                    return 2;
                }
                evn_problem p = npbmz_tasks(problem);
                p.units = units;
                p.speed = speeds;
                p.bandwidth = bandwidth[b];
                double start = evn_now();
                if (evn_schedule_open(&s, text, &p)) {
                    fprintf(stderr, "%s\n", evn_message());
                    return 2;
                }
                double seconds = evn_now() - start;
                const struct optimal_proof *proof = optimal_proof(s);
                double load = 0, cut = evn_problem_cut(&p, evn_schedule_owner(s), NULL);
                for (int t = 0; t < p.tasks; t++) load += p.weight[t] / speeds[0];
                double links = p.bandwidth > 0 ? cut / p.bandwidth : 0;
                printf("%5c  %5d  %9.4g  %9.4f  %9.4f  %7.3f  %7.3f  %7.2f  %5d  %s; %s\n", *c,
                       units, bandwidth[b] / 1e9, 1e3 * proof->longest, 1e3 * proof->bound,
                       100 * proof->gap, 100 * links / (load + links), seconds, proof->nodes,
                       proof->found, proof->proved);
                fflush(stdout);
                evn_schedule_close(s);
                npbmz_close(problem);
            }
    return 0;
}
