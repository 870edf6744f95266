/* Directives, loops and macros in branches of #if that are compiled, that are not, and partly. */
/* clang-format off */
#include <stdio.h>

#define for   for /* words of C, which generated text has, as macros */
#define if    if
#define NEW   1

static int x[16];

static int loops(int n) {
    int sum = 0;
#ifdef OLD
#    pragma omp teams distribute num_teams(2:CPUS:1) dist_schedule(runtim)
    for (struct node *p = head; p; p = p->next) visit(p);
    read this not
#    if NEW
#pragma omp teams num_teams(1:CPU:1)
#pragma omp distribute collapse(x)
    while (
#    endif
#elif 0
#pragma omp distribut
#pragma omp teams distribute num_teams(2:CPU:1
#else
#    if NEW
#        pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i] = i;
#    endif
#endif
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        x[i] += i;
#if 0
        break;
        i = 7; {
#else
        sum += x[i];
#endif
    }
    return sum;
}

static int partly(int n) {
    int sum = 0;
#if NEW
#    pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : sum)
#else
#    pragma omp teams distribute num_teams(2:CPU:1) reduction(nothing)
#endif
    for (int i = 0; i < n; i++)
        if (x[i] > 3) sum += 3;
#if NEW
        else sum += 5;
#endif
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        if (x[i] % 2) sum += 7;
#ifndef NEW
    {
#elif 0
#else
        else sum += 11;
#endif
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : sum)
#if !NEW
    for (int i = n; i; i--) {
#else
    for (int i = 0; i < n; i++) {
#endif
        sum++;
    }
#ifndef NEW
#    pragma omp teams num_teams(1:CPU:1) reduction(+ : sum)
    {
#endif
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : sum)
        for (int i = 0; i < n; i++)
#if NEW
            sum += 2;
#else
            sum--;
#endif
#ifndef NEW
    }
#endif
    return sum;
}

static int other(int n) { return n + 100; }
#ifndef NEW
#    pragma omp declare variant(unknown) match(device = {kind(gpu)})
#endif
static int variant(int n) { return other(n); }

int main(void) {
    printf("%d ", loops(10));
    printf("%d ", partly(10));
    printf("%d\n", variant(1));
    return 0;
}
