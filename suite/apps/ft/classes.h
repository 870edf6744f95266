/* The classes of FT. */
#pragma once

struct ft_class {
    char name;
    int n[3]; /* points along x, y, z */
    int steps;
    const double (*sum)[2]; /* checksum of each step, to 13 digits */
};

/* NULL: there is none of that name. */
const struct ft_class *ft_class_of(char name);
