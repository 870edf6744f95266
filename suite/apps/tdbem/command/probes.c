/* Points of --probes: lines of a file, or a grid on a plane or a sphere. */
#include "common/cli/message.h"
#include "tdbem/command/state.h"
#include <evener/number.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, PROBES = 1000000 };

static int wrong(const char *text, const char *why) {
    return complain("--probes %s: %s, expected %s", text, why,
                    *text == 's'
                        ? "sphere:X,Y,Z:R:NxM: centre, radius, points from pole to pole and around"
                        : "plane:X,Y,Z:U,V,W:U,V,W:NxM: a corner, two edges, points along them");
}

/* The parts between colons behind the first one, of `copy`, which is changed; their number. */
static int split(char *copy, char *part[PARTS]) {
    int count = 0;
    for (char *at = strchr(copy, ':'); at; at = strchr(at, ':')) {
        *at++ = 0;
        if (count < PARTS) part[count] = at;
        count++;
    }
    return count;
}

static int read_numbers(char *text, int count, double *to) {
    const evn_bounds bounds = {-INFINITY, INFINITY, 0};
    double *value = NULL;
    int n;
    const int failed = evn_read_reals(text, count, bounds, &value, &n) != EVN_OK;
    if (!failed) memcpy(to, value, (size_t)count * sizeof *to);
    free(value);
    return !failed;
}

/* NxM, from 2 x 2 on. */
static int read_counts(const char *text, int grid[2]) {
    char end;
    return sscanf(text, "%7dx%7d%c", &grid[0], &grid[1], &end) == 2 && grid[0] >= 2 &&
           grid[1] >= 2 && (long long)grid[0] * grid[1] <= PROBES;
}

static void on_plane(double (*to)[3], const int grid[2], const double at[3],
                     const double edge[2][3]) {
    for (int p = 0; p < grid[0] * grid[1]; p++)
        for (int c = 0; c < 3; c++)
            to[p][c] = at[c] + edge[0][c] * (p / grid[1]) / (grid[0] - 1) +
                       edge[1][c] * (p % grid[1]) / (grid[1] - 1);
}

static void on_sphere(double (*to)[3], const int grid[2], const double at[3], double radius) {
    for (int p = 0; p < grid[0] * grid[1]; p++) {
        const double theta = M_PI * (p / grid[1]) / (grid[0] - 1);
        const double phi = 2 * M_PI * (p % grid[1]) / grid[1];
        to[p][0] = at[0] + radius * sin(theta) * cos(phi);
        to[p][1] = at[1] + radius * sin(theta) * sin(phi);
        to[p][2] = at[2] + radius * cos(theta);
    }
}

static int read_grid(struct state *s, char *copy) {
    const char *text = s->w.probes;
    const int sphere = *text == 's';
    tdbem_grid *grid = &s->options.grid;
    char *part[PARTS];
    double at[3], edge[2][3], radius = 0;
    if (split(copy, part) != (sphere ? 3 : 4)) return wrong(text, "its parts are not as many");
    if (!read_numbers(part[0], 3, at)) return wrong(text, evn_message());
    if (sphere && !read_numbers(part[1], 1, &radius)) return wrong(text, evn_message());
    if (sphere && !(radius > 0)) return wrong(text, "the radius is not above 0");
    for (int e = 0; !sphere && e < 2; e++)
        if (!read_numbers(part[1 + e], 3, edge[e])) return wrong(text, evn_message());
    if (!read_counts(part[sphere ? 2 : 3], grid->points))
        return wrong(text, "N and M are not 2 or more and a million points at most");
    s->options.points = grid->points[0] * grid->points[1];
    s->point = malloc(sizeof *s->point * (size_t)s->options.points);
    if (!s->point) return wrong(text, "there is not enough memory");
    grid->closed = sphere;
    if (sphere)
        on_sphere(s->point, grid->points, at, radius);
    else
        on_plane(s->point, grid->points, at, edge);
    return 0;
}

int probes_read(struct state *s) {
    const char *text = s->w.probes;
    if (strncmp(text, "plane:", 6) && strncmp(text, "sphere:", 7))
        return words_read_rows("probes", text, 3, (double **)&s->point, &s->options.points);
    char *copy = strdup(text);
    const int code = copy ? read_grid(s, copy) : wrong(text, "there is not enough memory");
    free(copy);
    return code;
}
