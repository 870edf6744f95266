/* 3:13: error: declare variant: must stand before the definition of the function */
 void g(int);
#pragma omp declare variant(g) match(device={kind(gpu)})
void f(int z);
