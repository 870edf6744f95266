/* A sphere of radius 0.1 m in a plane wave and in the field of a point source: the pressures that
 * two places hear, and what the first is of the wave without the sphere.
 *
 *     cc sound.c $(pkg-config --cflags --libs evener-tdbem) -o sound
 *     ./sound > pressures.csv
 *
 * Run by the tests; ends with status 0 if the null field says that the pressures are right. */
#include <evener/tdbem.h>
#include <stdio.h>
#include <stdlib.h>

static const double place[2][3] = {{0, 0, -0.15}, {0, 0.2, 0}}; /* in front, and at the side */

/* Called with the scattered pressures after each step, of one incidence after the other. */
static void hear(int n, double t, const double *a, const double *scattered, void *problem) {
    const double before = tdbem_incident(problem, 0, place[0], t);
    (void)a;
    printf("%d,%g,%g,%g,%g\n", n, t, before, scattered[0], scattered[1]);
}

static int quit(void) {
    fprintf(stderr, "sound: %s\n", evn_message());
    return EXIT_FAILURE;
}

int main(void) {
    const tdbem_wave along = {0, {0, 0, 1}, 1, 0}, source = {1, {0, 0, -0.5}, 1, 0};
    const tdbem_incidence incidence[2] = {{"plane", 1, &along}, {"source", 1, &source}};
    tdbem_options o = tdbem_defaults();
    tdbem *problem;
    o.mesh = "sphere:2";
    o.scale = 0.1;
    o.speed = 343;
    o.incidences = 2;
    o.incidence = incidence;
    o.points = 2;
    o.point = place;
    if (tdbem_open(&problem, &o)) return quit();
    for (int i = 0; tdbem_warning(problem, i); i++)
        fprintf(stderr, "sound: %s\n", tdbem_warning(problem, i));
    tdbem_run_options march = {.step = hear, .arg = problem};
    tdbem_outcome outcome;
    if (tdbem_march(problem, &march, &outcome)) return quit();
    const int right = outcome.null_field < 0.02;
    fprintf(stderr, "sound: %d vertices, %d steps, largest pressure %.3f, null field %.2g\n",
            tdbem_surface(problem).vertices, outcome.steps, outcome.max, outcome.null_field);
    tdbem_outcome_free(&outcome);
    tdbem_close(problem);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
