/* Kernels that use each thing the dialect has, for the conformance suite of the devices. */
#include "probe_table.h"

#define GROUP 64

EVN_TABLE(double, probe_weight, 4) = {1, 0.5, 0.25, 0.125};

EVN_DEVICE_FUNCTION double weighted(double x, int i) { return x * probe_weight[i & 3]; }

/* y = a x + y; with fusing off everywhere, to the bit */
EVN_KERNEL(axpy, GROUP,
           (EVN_BUFFER(double, y), EVN_IN(double, x), EVN_VALUE(double, a), EVN_VALUE(int, n))) {
    EVN_ITEMS(i) {
        int at = EVN_GROUP * GROUP + i;
        if (at < n) y[at] = a * x[at] + y[at];
    }
}

/* scalars and a struct by value, a table of pieces in a buffer, 64-bit integers */
EVN_KERNEL(values, GROUP,
           (EVN_BUFFER(double, out), EVN_BUFFER(evn_long, large), EVN_IN(struct probe_piece, piece),
            EVN_VALUE(struct probe_values, v), EVN_VALUE(int, add), EVN_VALUE(evn_long, wide))) {
    const struct probe_piece p = piece[EVN_GROUP];
    EVN_SHARE(i, p.count) {
        out[p.first + (evn_long)i * p.step] = v.factor[i % 3] * (double)(i + v.shift + add);
    }
    EVN_FIRST { large[EVN_GROUP] = v.large + wide * (EVN_GROUP + 1); }
}

/* sum of each group's items in a fixed tree; private values live across barriers */
EVN_KERNEL(reduce, GROUP, (EVN_BUFFER(double, sum), EVN_IN(double, x), EVN_VALUE(int, n))) {
    EVN_LOCAL_ARRAY(double, part, GROUP);
    EVN_PRIVATE(double, mine);
    EVN_PRIVATE_ARRAY(double, pair, 2);
    EVN_ITEMS(i) {
        EVN_OWN_AT(pair, 0, i) = 0;
        EVN_OWN_AT(pair, 1, i) = 0;
        for (int at = EVN_GROUP * GROUP + i, k = 0; at < n; at += EVN_GROUPS * GROUP, k ^= 1)
            EVN_OWN_AT(pair, k, i) += weighted(x[at], at);
        EVN_OWN(mine, i) = EVN_OWN_AT(pair, 0, i) + EVN_OWN_AT(pair, 1, i);
        part[i] = EVN_OWN(mine, i);
    }
    EVN_BARRIER;
    for (int reach = GROUP / 2; reach > 0; reach /= 2) {
        EVN_ITEMS(i) {
            if (i < reach) EVN_OWN(mine, i) += part[i + reach];
        }
        EVN_BARRIER;
        EVN_ITEMS(i) {
            if (i >= reach) continue;
            part[i] = EVN_OWN(mine, i);
        }
        EVN_BARRIER;
    }
    EVN_FIRST { sum[EVN_GROUP] = part[0]; }
}

/* what is built in */
EVN_KERNEL(functions, GROUP, (EVN_BUFFER(double, out), EVN_IN(double, x), EVN_VALUE(int, n))) {
    EVN_ITEMS(i) {
        if (i >= n) continue;
        double a = x[i];
        out[8 * i] = evn_sqrt(evn_abs(a));
        out[8 * i + 1] = evn_abs(a);
        out[8 * i + 2] = evn_fma(a, a, -(a * a)); /* the rounding error of the square */
        out[8 * i + 3] = evn_min(a, 1);
        out[8 * i + 4] = evn_max(a, 1);
        out[8 * i + 5] = evn_imin(i, 3) + 10 * evn_imax(i, 3);
        out[8 * i + 6] = EVN_SELECT(a < 0, -1.0, 1.0);
        out[8 * i + 7] = EVN_GROUP + 10 * EVN_GROUPS + 100 * EVN_ITEM_COUNT;
    }
}

/* takes a while that its result depends on: x -> x/2 + 1, `rounds` times */
EVN_KERNEL(grind, GROUP, (EVN_BUFFER(double, x), EVN_VALUE(int, n), EVN_VALUE(int, rounds))) {
    EVN_ITEMS(i) {
        int at = EVN_GROUP * GROUP + i;
        if (at >= n) continue;
        double a = x[at];
        for (int r = 0; r < rounds; r++) a = 0.5 * a + 1;
        x[at] = a;
    }
}

/* where a buffer is, for the test that nobody else can go there; and a write to anywhere */
EVN_KERNEL(address, GROUP, (EVN_BUFFER(evn_long, out), EVN_BUFFER(double, x))) {
    EVN_FIRST { out[0] = (evn_long)x; }
}

EVN_KERNEL(poke, GROUP,
           (EVN_BUFFER(double, x), EVN_VALUE(evn_long, at), EVN_VALUE(double, value))) {
    EVN_FIRST { x[at] = value; }
}

/* the most parameters there can be: out = sum of k times the k-th value */
EVN_KERNEL(many, GROUP,
           (EVN_BUFFER(double, out), EVN_VALUE(int, v1), EVN_VALUE(double, v2), EVN_VALUE(int, v3),
            EVN_VALUE(double, v4), EVN_VALUE(int, v5), EVN_VALUE(double, v6), EVN_VALUE(int, v7),
            EVN_VALUE(double, v8), EVN_VALUE(int, v9), EVN_VALUE(double, v10), EVN_VALUE(int, v11),
            EVN_VALUE(double, v12), EVN_VALUE(int, v13), EVN_VALUE(double, v14),
            EVN_VALUE(int, v15), EVN_VALUE(double, v16), EVN_VALUE(int, v17),
            EVN_VALUE(double, v18), EVN_VALUE(int, v19), EVN_VALUE(double, v20),
            EVN_VALUE(int, v21), EVN_VALUE(double, v22), EVN_IN(double, x))) {
    EVN_FIRST {
        out[0] = v1 + 2 * v2 + 3 * v3 + 4 * v4 + 5 * v5 + 6 * v6 + 7 * v7 + 8 * v8 + 9 * v9 +
                 10 * v10 + 11 * v11 + 12 * v12 + 13 * v13 + 14 * v14 + 15 * v15 + 16 * v16 +
                 17 * v17 + 18 * v18 + 19 * v19 + 20 * v20 + 21 * v21 + 22 * v22 + 23 * x[0];
    }
}
