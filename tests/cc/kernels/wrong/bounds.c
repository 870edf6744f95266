/* 5:29: error: expected loop 2 of collapse(2); its bounds may not use "j" */
void f(int n, double (*u)[4]) {
#pragma omp target teams distribute parallel for collapse(2)
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) u[j][i] = 1;
}
