/* 27:39: warning: "count" is one variable of all units, which change it at a time; name it in reduction(+: count) or private(count) */
int count;
int part(const int *field);
int part(const int *field) {
    int sum = 0;
#pragma omp distribute
    for (int i = 0; i < 4; i++) sum += field[i];
    return sum;
}
void work(int *field) {
#pragma omp teams num_teams(2:CPU:1)
    {
        int mine = 0;
#pragma omp distribute
        for (int i = 0; i < 4; i++) {
            int count = 0;
            mine += i;
            count += field[i];
            field[i] = count;
        }
#pragma omp distribute
        for (int i = 0; i < 4; i++) {
#pragma omp atomic
            count += mine;
        }
#pragma omp distribute
        for (int i = 0; i < 4; i++) ++count;
    }
}
