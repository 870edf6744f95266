/* 5:1: error: no directive but simd may stand between the loops of a kernel */
void f(int n, double (*u)[4]) {
#pragma omp target teams distribute parallel for collapse(2)
    for (int j = 0; j < n; j++)
#pragma omp ordered
        for (int i = 0; i < 4; i++) u[j][i] = 1;
}
