/* Parts of the library that a program has only where something refers to them. */
#pragma once

/* The end of a message about such a part, which is EVN_MISSING (everything.c). */
#define NOT_LINKED                                                                                 \
    "is not in this program: its linker took from libevener.a what it calls; link with "           \
    "-Wl,--undefined=evn__everything, as pkg-config --libs evener says"
