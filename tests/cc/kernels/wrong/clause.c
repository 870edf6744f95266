/* 3:50: error: a loop that a kernel is made of has collapse(n), reduction(+: s), private(x) and map(..), and no other clauses */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for schedule(static)
    for (int i = 0; i < n; i++) u[i] = 1;
}
