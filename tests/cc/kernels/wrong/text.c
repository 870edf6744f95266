/* 4:40: error: text cannot be used in a kernel */
void f(int n, int *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = "abc"[1];
}
