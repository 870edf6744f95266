/* 6:9: error: the loop variable "i" may not be written */
void f(int n, int *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        u[i] = 1;
        i = 2;
    }
}
