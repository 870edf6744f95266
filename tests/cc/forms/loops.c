/* Forms of loops; the sum of each. */
#include <stdint.h>
#include <stdio.h>
enum colour { red, green, blue };
int main(void) {
    int n = 6, table[12] = {1, 2, 3, 11};
    long long sum;
    /* nothing that C does not know is seen of */
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int z = 0; z < 17; z++) sum += (long long)(z)*3 + 1;
    printf("0 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int z = 0; z <= 17; ++z) sum += (long long)(z)*3 + 1;
    printf("1 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int z = 17; z > 0; z--) sum += (long long)(z)*3 + 1;
    printf("2 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int z = 17; z >= 0; --z) sum += (long long)(z)*3 + 1;
    printf("3 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (long z = 3; 40 > z; z += 5) sum += (long long)(z)*3 + 1;
    printf("4 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (unsigned z = 3; 40 >= z; z = z + 7) sum += (long long)(z)*3 + 1;
    printf("5 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (short z = 40; 3 < z; z -= 2 + 1) sum += (long long)(z)*3 + 1;
    printf("6 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (long long z = 40; - 4 <= z; z = z - 2 * 2) sum += (long long)(z)*3 + 1;
    printf("7 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (unsigned char z = 250; z > 4; z -= 3) sum += (long long)(z)*3 + 1;
    printf("8 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (size_t z = n; z<sizeof table / sizeof *table; z += n> 3 ? 2 : 1)
        sum += (long long)(z)*3 + 1;
    printf("9 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int z = n; z < 0; z++) sum += (long long)(z)*3 + 1;
    printf("10 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (register int z = 0; z < (9); z++) sum += (long long)(z)*3 + 1;
    printf("11 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int z = 0; z < table[3]; z += table[1]) sum += (long long)(z)*3 + 1;
    printf("12 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int z = 0; z < n; z++) sum += (long long)(z)*3 + 1;
    printf("13 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int64_t z = INT64_C(1) << 40; z < (INT64_C(1) << 40) + 5; z++)
        sum += (z - (INT64_C(1) << 40)) * 3 + 1;
    printf("14 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (enum colour z = red; z <= blue; z++) sum += (long long)(z)*3 + 1;
    printf("15 %lld\n", sum);
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int z = 0 /* ) ; */; z < 5 // )
         ;
         z++)
        sum += (long long)(z)*3 + 1;
    printf("16 %lld\n", sum);
    int w;
    sum = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(^ : sum) lastprivate(w)
    for (w = n; w < 30; w += 4)
        if (w % 3)
            sum ^= w;
        else
            sum ^= w * 2;
    printf("%lld %d\n", sum, w);
    sum = 1;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(* : sum)
    for (int z = 1; z < 9; z++) do {
            int k = 0;
            while (1) {
                if (k++ == 3) break;
                sum *= k;
            }
            switch (z) {
            case 1:
            case 2: break;
            default: sum -= 0;
            }
        } while (0);
    printf("%lld\n", sum);
    unsigned bits = 0xffff, some = 0;
    int all = 1, any = 0;
    float low = 1e9f;
    long double high = -1e9L;
    unsigned char least = 200;
    signed char greatest = -100;
#pragma omp teams distribute num_teams(1:CPU:1, 1:GPU:1) reduction(&: bits) reduction(|: some) reduction(&&: all) \
    reduction(||: any) reduction(min: low, least) reduction(max: high, greatest)
    for (int z = 20; z > 2; z -= 2) {
        bits &= ~(1u << z % 16);
        some |= 1u << z;
        all = all && z != 7;
        any = any || z == 6;
        if ((float)z * 1.5f < low) low = (float)z * 1.5f;
        if (z * 2.5L > high) high = z * 2.5L;
        if (z + 50 < least) least = (unsigned char)(z + 50);
        if (z - 90 > greatest) greatest = (signed char)(z - 90);
    }
    printf("%x %x %d %d %g %Lg %d %d\n", bits, some, all, any, (double)low, high, least, greatest);
    for (int i = 0; i < 3; i++) {
        int here[n + i], *p = here;
        struct {
            int a, b;
        } pair = {i, 2};
        if (i)
#pragma omp teams num_teams(2 : CPU : 1) shared(here)
#pragma omp distribute firstprivate(pair)
            for (int z = 0; z < n; z++) {
                pair.a = z;
                here[z] = pair.a * pair.b + (p == here);
            }
        else
            for (int z = 0; z < n; z++) here[z] = 0;
        printf("%d %d\n", here[0], here[n - 1]);
    }
    return 0;
}
