/* A relay for the test of groups that wait for each other (test_resident.c): each leg has a row of
 * values, made from all of those of the leg before. */
#include <evener/kernel.h>

#define GROUP 64

/* Legs LEG, LEG + groups, ..: row[leg][i] is the sum of row[leg - 1] from i on, plus 1; flag[leg]
 * is `from` and 1 when it is there. backwards: groups take legs from the other end. */
EVN_KERNEL(relay, GROUP,
           (EVN_COMMON(evn_long, row), EVN_BUFFER(evn_long, flag), EVN_VALUE(evn_long, from),
            EVN_VALUE(int, legs), EVN_VALUE(int, backwards))) {
    for (int turn = EVN_GROUP; turn < legs; turn += EVN_GROUPS) {
        const int leg = backwards ? legs - 1 - turn : turn;
        if (leg > 0) EVN_AWAIT(flag + (leg - 1), from + 1);
        EVN_ITEMS(i) {
            evn_long sum = 1;
            for (int k = i; leg > 0 && k < GROUP; k++) sum += row[(leg - 1) * GROUP + k] & 1023;
            row[leg * GROUP + i] = sum;
        }
        EVN_RAISE(flag + leg, from + 1);
    }
}
