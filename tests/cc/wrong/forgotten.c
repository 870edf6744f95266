/* 9:42: warning: "sum" is one variable of all units, which change it at a time; name it in reduction(+: sum) or private(sum) */
int main(void) {
    double sum = 0, other = 0, last = 0, product = 1, list[4] = {0};
    static _Thread_local int mine;
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+: other) reduction(*: product) private(last)
    for (int i = 0; i < 4; i++) other += i, product *= 2, last += i, list[i] += i, mine++;
#pragma omp teams distribute num_teams(2:CPU:1) \
    dist_schedule(dynamic)
    for (int i = 0; i < 4; i++) { if (i) sum += i; }
    return (int)(sum + other + last + product + list[0]) + mine;
}
/* one unit has it for itself */
int alone(int sum) {
#pragma omp teams distribute num_teams(1:CPU:2)
    for (int i = 0; i < 4; i++) sum += i;
    return sum;
}
