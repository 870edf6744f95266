/* 7:9: error: nothing may stand between the loops of collapse(2) */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) collapse(2)
    for (int i = 0; i < n; i++) {
        for (int z = 0; z < n; z++) work(z);
        work(i);
    }
}
