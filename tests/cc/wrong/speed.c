/* 4:55: error: speed: expected FAMILY: SPEED as in speed(CPU: 1, GPU: 16) */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) speed(16)
    for (int z = 0; z < n; z++) work(z);
}
