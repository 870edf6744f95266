/* 4:59: error: reduction: unknown operator "foo", expected + - * & | ^ && || min or max */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1) reduction(foo: s)
    for (int z = 0; z < n; z++) work(z);
}
