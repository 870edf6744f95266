/* Functions of math.h on cores for --kernels-math=same, whatever options a program is compiled
 * with. This file is compiled without contraction. */
#include <evener/cu_prelude.h>
#include <evener/kernel_math.h>

#define DEFINE(name)                                                                               \
    double evn_cu_##name(double a) { return evn_##name(a); }                                       \
    float evn_cu_##name##f(float a) { return (float)evn_##name(a); }
#define DEFINE_2(name)                                                                             \
    double evn_cu_##name(double a, double b) { return evn_##name(a, b); }                          \
    float evn_cu_##name##f(float a, float b) { return (float)evn_##name(a, b); }

EVN_CU_MATH(DEFINE)
EVN_CU_MATH_2(DEFINE_2)
