/* 3:13: warning: did you mean omp distribute? */
void f(int n) {
#pragma omp distribut
    for (int z = 0; z < n; z++) {}
}
