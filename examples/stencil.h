/* Common to the host and the devices of zones.c: a point's new value, in rows of ROW points. */
enum { ROW = 64 };
#define MEAN(u, at) (0.25 * (((u)[(at)-1] + (u)[(at) + 1]) + ((u)[(at)-ROW] + (u)[(at) + ROW])))
