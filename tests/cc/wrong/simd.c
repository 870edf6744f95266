/* 4:30: error: teams distribute simd: write teams distribute, and simd in the body */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute simd num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) work(z);
}
