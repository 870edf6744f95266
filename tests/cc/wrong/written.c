/* 10:9: error: "z" is the variable of the loop over compute units, and cannot be changed in its body; its iterations are counted before they run */
struct s {
    int z;
};
void f(int n, struct s *a, int *b) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (int z = 0; z < n; z++) {
        a->z = z;
        b[z]++;
        z += 1;
    }
}
