/* What is written by way of pointers is brought home, and what is only read is not taken from
 * others; prints numbers that must be the same wherever it runs. */
#include <omp_cu.h>
#include <stdio.h>

enum { N = 130 };
struct pair {
    double a, b[2];
};

static void by_alias(double *to, const double *from, int n) {
    double *at = to;
    for (int i = 0; i < n; i++, at++) *at = from[i] + 1;
}
static void through(struct pair *p, double x) { p->b[1] = x; }
static void deeper(struct pair *p, double x) { through(p, 2 * x); }
static double first(const struct pair *p) {
    const struct pair *q;
    q = p;
    return (*q).a + q->b[0];
}

static void run(int n, double *u, double (*v)[2], struct pair *p, double *w, const double *x) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        double *mine = &u[i], *other, two[2] = {1, 2};
        *mine = i;
        (*mine)++;
        other = i % 2 ? mine : &u[i];
        other[0] *= 3;
        by_alias(v[i], &x[0], 2);
        by_alias(two, x, 1);
        deeper(&p[i], two[0]);
        struct pair own = {.5, {1, 2}};
        through(&own, 3);
        w[i] = first(&p[i]) + own.b[1] + first(&own);
    }
}

int main(void) {
    static double u[N], v[N][2], w[N], x[2] = {5, 6};
    static struct pair p[N];
    for (int i = 0; i < N; i++) p[i].a = i, p[i].b[0] = 1;
    omp_register(u, sizeof u), omp_register(v, sizeof v), omp_register(w, sizeof w);
    omp_register(p, sizeof p), omp_register(x, sizeof x);
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
    for (int once = 0; once < 1; once++) run(N, u, v, p, w, x);
    omp_migrate(u), omp_migrate(v), omp_migrate(w), omp_migrate(p);
    double sum = 0;
    for (int i = 0; i < N; i++) sum += u[i] + 3 * v[i][0] + v[i][1] * i + w[i] + p[i].b[1];
    printf("%.17g\n", sum);
    return 0;
}
