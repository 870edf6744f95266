/* 4:44: error: "u" has 1 subscripts here and 2 elsewhere */
void f(int n, double (*u)[4]) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i][0] = (u[i] != 0);
}
