/* Symmetric rules on triangles (Strang and Fix; Dunavant, Int. J. Numer. Methods Eng. 21 (1985)),
 * each given by one point of every orbit of the triangle's symmetries. */
#include "tdbem/matrices/quadrature.h"
#include <stdlib.h>
#include <string.h>

/* One point (1-b-c, b, c); its orbit has 1, 3 or 6 points. */
struct orbit {
    double weight, b, c;
};

struct known {
    int points, orbits;
    struct orbit orbit[5];
};

/* weights are given to 15 digits, and scaled to the sum 1 */
static const struct known known[] = {
    {3, 1, {{1 / 3.0, 1 / 6.0, 1 / 6.0}}},
    {6,
     2,
     {{0.223381589678011, 0.445948490915965, 0.445948490915965},
      {0.109951743655322, 0.091576213509771, 0.091576213509771}}},
    {7,
     3,
     {{0.225, 1 / 3.0, 1 / 3.0},
      {0.132394152788506, 0.470142064105115, 0.470142064105115},
      {0.125939180544827, 0.101286507323456, 0.101286507323456}}},
    {12,
     3,
     {{0.116786275726379, 0.249286745170910, 0.249286745170910},
      {0.050844906370207, 0.063089014491502, 0.063089014491502},
      {0.082851075618374, 0.310352451033784, 0.636502499121399}}},
    {16,
     5,
     {{0.144315607677787, 1 / 3.0, 1 / 3.0},
      {0.095091634267285, 0.459292588292723, 0.459292588292723},
      {0.103217370534718, 0.170569307751760, 0.170569307751760},
      {0.032458497623198, 0.050547228317031, 0.050547228317031},
      {0.027230314174435, 0.263112829634638, 0.728492392955404}}},
};

static int orbit_points(struct orbit o) { return o.b == o.c ? (o.b == 1 / 3.0 ? 1 : 3) : 6; }

static void unfold(struct rule *r, const struct known *k) {
    int n = 0;
    double sum = 0;
    for (int o = 0; o < k->orbits; o++) {
        const double w = k->orbit[o].weight, b = k->orbit[o].b, c = k->orbit[o].c, a = 1 - b - c;
        const double all[6][3] = {{a, b, c}, {b, c, a}, {c, a, b}, {a, c, b}, {c, b, a}, {b, a, c}};
        for (int p = 0; p < orbit_points(k->orbit[o]); p++) {
            memcpy(r->at[n], all[p], sizeof all[p]);
            r->weight[n++] = w;
            sum += w;
        }
    }
    for (int p = 0; p < n; p++) r->weight[p] /= sum;
}

/* Each part's corners are the parent's corners and middles; `parts` grows by a factor of 4. */
static void cut(double (*part)[3][3], int parts) {
    for (int p = parts - 1; p >= 0; p--) {
        double c[3][3], m[3][3];
        memcpy(c, part[p], sizeof c);
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < 3; k++) m[e][k] = 0.5 * (c[e][k] + c[(e + 1) % 3][k]);
        for (int e = 0; e < 3; e++) {
            memcpy(part[4 * p + e][0], c[e], sizeof c[e]);
            memcpy(part[4 * p + e][1], m[e], sizeof c[e]);
            memcpy(part[4 * p + e][2], m[(e + 2) % 3], sizeof c[e]);
        }
        memcpy(part[4 * p + 3], m, sizeof m);
    }
}

evn_status rule_open(struct rule *rule, int points, int quad) {
    memset(rule, 0, sizeof *rule);
    const struct known *k = known;
    const int count = sizeof known / sizeof *known;
    while (k < known + count && k->points != points) k++;
    if (k == known + count)
        return evn_fail(EVN_USAGE, "quadrature: no rule of %d points; there are 3, 6, 7, 12, 16",
                        points);
    if (quad < 0 || quad > 6)
        return evn_fail(EVN_USAGE, "quadrature: --quad %d, expected 0 to 6", quad);
    int parts = 1;
    for (int l = 0; l < quad; l++) parts *= 4;
    const size_t all = (size_t)points * (size_t)parts;
    struct rule base = {.points = points};
    base.at = malloc((size_t)points * sizeof *base.at);
    base.weight = malloc((size_t)points * sizeof *base.weight);
    rule->at = malloc(all * sizeof *rule->at);
    rule->weight = malloc(all * sizeof *rule->weight);
    double(*part)[3][3] = malloc((size_t)parts * sizeof *part);
    int ok = base.at && base.weight && rule->at && rule->weight && part;
    if (ok) {
        unfold(&base, k);
        memcpy(part[0], (double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, sizeof *part);
        for (int n = 1; n < parts; n *= 4) cut(part, n);
        for (int p = 0; p < parts; p++)
            for (int q = 0; q < points; q++, rule->points++) {
                for (int c = 0; c < 3; c++)
                    rule->at[rule->points][c] = base.at[q][0] * part[p][0][c] +
                                                base.at[q][1] * part[p][1][c] +
                                                base.at[q][2] * part[p][2][c];
                rule->weight[rule->points] = base.weight[q] / parts;
            }
    }
    rule_close(&base);
    free(part);
    if (ok) return EVN_OK;
    rule_close(rule);
    return evn_fail(EVN_MEMORY, "quadrature: no memory for %zu points", all);
}

void rule_close(struct rule *rule) {
    free(rule->at);
    free(rule->weight);
    memset(rule, 0, sizeof *rule);
}

evn_status quadrature_open(struct quadrature *q, int uniform, int quad) {
    memset(q, 0, sizeof *q);
    const int points[NEARNESS] = {quad > 0 ? 16 : 12, 7, 6, 3};
    evn_status status = EVN_OK;
    for (int n = 0; n < NEARNESS && !status; n++)
        status = rule_open(&q->rule[n], uniform ? uniform : points[n], quad);
    if (status) quadrature_close(q);
    return status;
}

void quadrature_close(struct quadrature *q) {
    for (int n = 0; n < NEARNESS; n++) rule_close(&q->rule[n]);
}
