/* Adds a number to the 64 values of each task's region; a row of the table is a task and the byte
 * of its region. */
#include <evener/kernel.h>

EVN_KERNEL(add, 64, (EVN_BUFFER(double, all), EVN_IN(evn_long, table), EVN_VALUE(double, by))) {
    const evn_long at = table[2 * EVN_GROUP + 1] / 8;
    EVN_ITEMS(i) { all[at + i] += by; }
}
