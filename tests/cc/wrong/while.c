/* 5:5: error: expected the for loop that the directive is about */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    while (n--) work(n);
}
