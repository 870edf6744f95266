/* 6:24: error: "shared" is no clause of distribute */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams num_teams(2:CPU:1)
    {
#pragma omp distribute shared(s)
    for (int z = 0; z < n; z++) work(z);
    }
}
