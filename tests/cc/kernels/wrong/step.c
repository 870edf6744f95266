/* 4:16: error: expected for (int i = from; i < to; i++), with an integer of any size, <=, >, >= or !=, and any step; a kernel is made of no other loops */
void f(int n, int *u) {
#pragma omp target teams distribute parallel for
    for (float i = 0; i < n; i++) u[i] = 1;
}
