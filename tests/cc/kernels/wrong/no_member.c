/* 5:40: error: "z->in.x" is no member that kernels can use; they use those of structures, that are numbers or arrays of numbers */
struct z { union { int nx; } in; };
void f(int n, double *u, struct z *z) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = z->in.x + 1;
}
