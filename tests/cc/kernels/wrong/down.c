/* 4:14: error: expected for (int i = from; i < to; i++); a kernel is made of no other loops */
void f(int n, int *u) {
#pragma omp target teams distribute parallel for
    for (int i = n; i > 0; i--) u[i] = 1;
}
