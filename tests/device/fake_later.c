/* See fake_later.h. */
#include "fake_later.h"
#include <stdlib.h>
#include <string.h>

enum what { WORK, RECORD, WAIT };

struct piece {
    struct piece *next;
    enum what what;
    int from; /* WAIT: for this stream .. */
    int mark; /* .. to have come past so many records */
    void (*work)(void *data);
    max_align_t data[];
};

static struct {
    unsigned dice;
    int streams; /* beyond the last one that was used */
    struct stream {
        struct piece *first, **last;
        int records, marks; /* given; come past */
        unsigned long done; /* pieces */
    } stream[LATER_MAX];
    struct {
        int stream, mark; /* of its last record; mark 0: there was none */
    } event[LATER_MAX];
} later;

static struct stream *stream_of(int number) {
    struct stream *s = &later.stream[number];
    if (number >= later.streams) later.streams = number + 1;
    if (!s->last) s->last = &s->first;
    return s;
}

void later_reset(unsigned seed) {
    for (int i = 0; i < later.streams; i++)
        for (struct piece *p = later.stream[i].first, *next; p; p = next) {
            next = p->next;
            free(p);
        }
    memset(&later, 0, sizeof later);
    later.dice = seed;
}

/* 0 .. sides-1, seldom the same twice: Numerical Recipes' generator */
static unsigned throw(unsigned sides) {
    later.dice = later.dice * 1664525u + 1013904223u;
    return (later.dice >> 16) % sides;
}

static void reach(int stream, int mark);

/* The first piece, unless what it waits for comes to need it itself, and has done it meanwhile. */
static void do_one(struct stream *s) {
    struct piece *p = s->first;
    const unsigned long before = s->done;
    if (p->what == WAIT) reach(p->from, p->mark);
    if (s->done != before) return;
    s->done++;
    s->first = p->next;
    if (!s->first) s->last = &s->first;
    if (p->what == WORK) p->work(p->data);
    if (p->what == RECORD) s->marks++;
    free(p);
}

/* Some of what need not be done now. */
static void wander(void) {
    for (unsigned times = later.streams ? throw(3) : 0; times; times--) {
        struct stream *s = &later.stream[throw((unsigned)later.streams)];
        for (unsigned n = throw(4); n && s->first; n--) do_one(s);
    }
}

/* Until the stream has come past so many records. */
static void reach(int stream, int mark) {
    struct stream *s = stream_of(stream);
    while (s->marks < mark && s->first) {
        wander();
        if (s->marks < mark && s->first) do_one(s);
    }
}

static void give(int stream, const struct piece *what, const void *data, size_t bytes) {
    struct stream *s = stream_of(stream);
    struct piece *p = malloc(sizeof *p + bytes);
    if (!p) abort();
    *p = *what;
    p->next = NULL;
    if (bytes) memcpy(p->data, data, bytes);
    *s->last = p;
    s->last = &p->next;
    if (!later.dice) do_one(s);
}

void later_do(int stream, void (*work)(void *data), const void *data, size_t bytes) {
    give(stream, &(struct piece){.what = WORK, .work = work}, data, bytes);
}

void later_record(int stream, int event) {
    later.event[event].stream = stream;
    later.event[event].mark = ++stream_of(stream)->records;
    give(stream, &(struct piece){.what = RECORD}, NULL, 0);
}

void later_wait(int stream, int event) {
    if (!later.event[event].mark) return;
    give(stream,
         &(struct piece){
             .what = WAIT, .from = later.event[event].stream, .mark = later.event[event].mark},
         NULL, 0);
}

void later_stream(int stream) {
    struct stream *s = stream_of(stream);
    while (s->first) {
        wander();
        if (s->first) do_one(s);
    }
}

void later_event(int event) { reach(later.event[event].stream, later.event[event].mark); }

int later_asked(int event) {
    if (!later.dice) return 1; /* no dice are thrown, which would make everything late */
    wander();
    return later_has(event);
}

void later_all(void) {
    for (int i = 0; i < later.streams; i++) later_stream(i);
}

int later_is_done(int stream) { return !later.stream[stream].first; }

int later_is_idle(void) {
    for (int i = 0; i < later.streams; i++)
        if (!later_is_done(i)) return 0;
    return 1;
}

int later_has(int event) {
    return later.stream[later.event[event].stream].marks >= later.event[event].mark;
}
