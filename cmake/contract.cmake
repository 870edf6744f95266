# EVENER_NO_FUSED_VECTORS: options with which a build without contraction (EVENER_CONTRACT=OFF) has no fused multiply-add.
#
# gcc's vectorizer makes one instruction of a product whose lanes are subtracted from and added to in turn (vfmaddsub), whatever -ffp-contract says, and has
# no switch for that pattern alone. A sample shows whether this compiler does so; where it does, it vectorizes nothing by itself. Code with vectors of its
# own (suite/apps/common/simd/lanes.h) stays as it is.
set(EVENER_NO_FUSED_VECTORS "")
set(sample "${CMAKE_BINARY_DIR}/contract.c")
file(WRITE "${sample}" "void addsub(int n, double *restrict o, const double *restrict a, const double *restrict b, const double *restrict c) {
    for (int i = 0; i < n; i++) {
        o[2 * i] = a[2 * i] * b[2 * i] - c[2 * i];
        o[2 * i + 1] = a[2 * i + 1] * b[2 * i + 1] + c[2 * i + 1];
    }
}
")
foreach(arch IN ITEMS x86-64-v3 x86-64-v4 ${EVENER_ARCH})
    execute_process(COMMAND ${CMAKE_C_COMPILER} -O3 -march=${arch} -ffp-contract=off -S -o - "${sample}" OUTPUT_VARIABLE text ERROR_QUIET)
    if(text MATCHES "vfn?m(add|sub)")
        set(EVENER_NO_FUSED_VECTORS -fno-tree-vectorize)
    endif()
endforeach()
