/* 4:40: error: a kernel can convert to int, long, unsigned of both, float and double, and to nothing else */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = (char)i;
}
