/* 6:24: error: reduction: of units in a teams block belongs to the teams */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams num_teams(2:CPU:1)
    {
#pragma omp distribute reduction(+: s)
    for (int z = 0; z < n; z++) work(z);
    }
}
