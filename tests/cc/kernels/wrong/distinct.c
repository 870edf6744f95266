/* 6:14: error: "j" is written by all iterations; declare it in the loop, or name it in reduction */
void f(int n, double (*u)[4]) {
    int j, k;
#pragma omp target teams distribute parallel for
    for (k = 0; k < n; k++)
        for (j = 0; j < 4; j++) u[k][j] = 1;
}
