/* 5:40: error: members cannot be used in a kernel; put z->in[2].nx into a variable before the loop */
struct z { struct { int nx; } in[3]; };
void f(int n, double *u, struct z *z) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = z->in[2].nx + 1;
}
