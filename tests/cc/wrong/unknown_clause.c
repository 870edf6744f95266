/* 4:49: error: "vectorize" is no clause of teams distribute */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) vectorize
    for (int z = 0; z < n; z++) work(z);
}
