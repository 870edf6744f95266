/* Heads in all the words that the grammar of OpenMP has, and bodies without braces. */
#include <stddef.h>
#include <stdio.h>

static int x[32];

static void show(const char *what) {
    printf("%s", what);
    for (int i = 0; i < 32; i++) printf(" %d", x[i]);
    printf("\n");
    for (int i = 0; i < 32; i++) x[i] = 0;
}

static void parentheses(int n) {
    int i;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int k = (0); (k < n); k++) x[k] += k;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (i = (n); i < (n) + (5); i = (i) + (1)) x[i] += i;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for ((i) = n; (i) < n + 5; (i)++) x[i] += i;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (i = n; n + 5 > i; i = 1 + i) x[i] += i;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for ((i = 2 * n); ((i) >= (2)); (--(i))) x[i] += i;
    show("parentheses");
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int(k) = 0; (n) > (k); (k += 2)) x[k] += 3;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (i = 0; i <= ((n)); i = (n - 8) * 2 - 1 + (i)) x[i] += 1;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (i = n; i > 0; i = (i) - (n - 8)) x[i] += 1;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (i = n; 0 < i; (i) -= (n > 8 ? 1 : 2)) x[i] += 1;
#pragma omp teams distribute num_teams(2 : CPU : 1) collapse(2)
    for (int k = 0; (k) < 3; (k)++)
        for (size_t j = 0; (5 > j); j = (1) + j) x[(size_t)k * 5 + j] += 7;
    show("steps");
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (i = n; i != 0; --i) x[i] += i;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (unsigned k = 0; (size_t)n != (k); k += 1) x[k] += 3;
    show("unequal");
}

static void attributes(int n) {
    int sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int q __attribute__((unused)) = 0; q < n; q++) sum++;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (__attribute__((unused)) int q = 0; q < n; q++) sum++;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int __attribute__((aligned(4))) q = 0; q < n; q++) sum += q;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (register unsigned long int q __attribute__((unused, aligned(8))) = 3; q < 9; ++q) sum++;
    printf("%d\n", sum);
}

struct three {
    int at[3];
};

static void pointers(int n) {
    const int *last;
    struct three rows[10];
    int sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int *p = x; p < &x[n]; p++) *p = (int)(p - x) + 1;
#pragma omp teams distribute num_teams(2 : CPU : 1) lastprivate(last) reduction(+ : sum)
    for (last = &x[n]; last >= x; last -= 2) sum += *last * (int)(last - x);
    printf("%d %d\n", sum, (int)(last - x));
#pragma omp teams distribute num_teams(2 : CPU : 1) collapse(2)
    for (struct three *row = rows; rows + 10 != row; ++row)
        for (int k = 0; k < 3; k++) row->at[k] = 10 * (int)(row - rows) + k;
#pragma omp teams distribute num_teams(2 : CPU : 1) weight(1 + row->at[0])
    for (const struct three *row = &rows[9]; row > rows; row--)
        x[row - rows + 20] = row->at[0] + row->at[2];
    show("pointers");
}

static void bodies(int n) {
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < n; i++) _Pragma("omp simd") for (int k = 0; k < 2; k++) if (k) {
            x[i] += 2;
        }
    else {
        x[i] += i;
    }
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < n; i++)
        if (i > 3)
            x[i] |= ((struct { int a; }){i}).a;
        else if (i > 1)
            for (int k = 0; k < 4; k++) {
                if (k == 2) break;
                x[i] += k;
            }
        else
            do x[i] += 3;
            while (x[i] < 10);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < n; i++) x[i] <<= (int[]){1, 2}[i % 2];
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < n; i++) switch (i % 3) {
        case 0: x[i] += 5; break;
        case 1 + (2 > 3 ? 1 : 0): {
                x[i] += 6;
                break;
            }
        default: x[i] -= 1;
        }
    show("bodies");
}

int main(void) {
    parentheses(9);
    attributes(7);
    pointers(12);
    bodies(12);
    return 0;
}
