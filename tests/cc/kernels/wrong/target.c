/* 3:1: error: no kernel can be made of this target region, and it would run on the host; expected target teams distribute parallel for, or target teams distribute, before a loop */
void f(int n, double *u) {
#pragma omp target map(tofrom : u[0 : n])
    for (int i = 0; i < n; i++) u[i] = i;
}
