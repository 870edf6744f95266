/* 5:15: error: the loop variable "z" is a pointer; expected an integer */
void work(int);
void f(int n, int s, int *a, char *text) {
#pragma omp teams distribute num_teams(2:CPU:1)
    for (char *z = text; z < text + n; z++) work(*z);
}
