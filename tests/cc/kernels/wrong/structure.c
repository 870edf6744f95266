/* 5:40: error: "z" is a structure that kernels do not have; they have those whose members are integers, but no _Bool, float and double, and arrays of constant sizes of them */
struct z { int nx; struct z *next; };
void f(int n, double *u, struct z *z) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = z[i].nx + 1;
}
