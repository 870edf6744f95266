/* 3:50: error: a loop that a kernel is made of has collapse(n), reduction(+: s), private(x), shared(x), map(..), num_teams, thread_limit and num_threads, and no other clauses */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for schedule(static)
    for (int i = 0; i < n; i++) u[i] = 1;
}
