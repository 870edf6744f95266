/* 4:15: error: expected for (int i = from; i < to; i++); a kernel is made of no other loops */
void f(int n, int *u) {
#pragma omp target teams distribute parallel for
    for (long i = 0; i < n; i++) u[i] = 1;
}
