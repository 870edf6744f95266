/* 4:61: error: batch: its function gets one variable's values; collapse has several */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) collapse(2) batch(g)
    for (int i = 0; i < n; i++)
        for (int z = 0; z < n; z++) work(z);
}
