/* MPI by itself, beside its wire in `evener bench put`: puts into windows, and messages, between
 * ranks 0 and 1. A shared object, evener-raw-NAME.so, that the command opens; MPI has begun. */
#include "bench/raw.h"
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64, TAG = 1, TOGETHER = 32 };

static MPI_Comm pair = MPI_COMM_NULL; /* ranks 0 and 1 */
static MPI_Win window[2] = {MPI_WIN_NULL, MPI_WIN_NULL};
static char *part[2]; /* this rank's memory: a number, and from HEAD on what is put */
static char *mine, *created;
static uint64_t number[2];
static int me;

static int open_windows(size_t max) {
    const MPI_Aint bytes = (MPI_Aint)(HEAD + max);
    int code = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, pair, &part[RAW_ALLOCATED],
                                &window[RAW_ALLOCATED]);
    if (!code) code = MPI_Win_create(created, bytes, 1, MPI_INFO_NULL, pair, &window[RAW_CREATED]);
    part[RAW_CREATED] = created;
    for (int w = 0; !code && w < 2; w++) {
        memset(part[w], 0, HEAD + max);
        number[w] = 0;
        code = MPI_Win_lock_all(MPI_MODE_NOCHECK, window[w]);
        if (!code) code = MPI_Win_set_errhandler(window[w], MPI_ERRORS_RETURN);
    }
    return code ? code : MPI_Barrier(pair); /* else a number that is there would be cleared */
}

static int raw_open(size_t max) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
    if (code || pair == MPI_COMM_NULL) return code;
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    MPI_Comm_rank(pair, &me);
    mine = malloc(HEAD + max);
    created = aligned_alloc(4096, (HEAD + max + 4095) / 4096 * 4096);
    int both = 0, own = mine && created;
    code = MPI_Allreduce(&own, &both, 1, MPI_INT, MPI_MIN, pair);
    if (code || !both) return code ? code : MPI_ERR_NO_MEM;
    memset(mine, 1, HEAD + max);
    return open_windows(max);
}

static void raw_close(void) {
    for (int w = 0; w < 2; w++) {
        if (window[w] == MPI_WIN_NULL) continue;
        MPI_Win_unlock_all(window[w]);
        MPI_Win_free(&window[w]);
    }
    free(mine);
    free(created);
    mine = created = NULL;
    if (pair != MPI_COMM_NULL) MPI_Comm_free(&pair);
}

static void raw_say(int code, char *text, size_t room) {
    char of[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, of, &length);
    text[0] = 0;
    strncat(text, of, room - 1);
}

static int put(int w, size_t bytes) {
    return MPI_Put(mine, (int)bytes, MPI_BYTE, !me, HEAD, (int)bytes, MPI_BYTE, window[w]);
}

/* Sets the other's word after all earlier puts have arrived: MPI does not order operations of
 * different kinds. */
static int tell(int w, uint64_t value) {
    int code = MPI_Win_flush(!me, window[w]);
    if (!code)
        code = MPI_Accumulate(&value, 1, MPI_UINT64_T, !me, 0, 1, MPI_UINT64_T, MPI_REPLACE,
                              window[w]);
    return code ? code : MPI_Win_flush(!me, window[w]);
}

static int await(int w, uint64_t value) {
    int here, code = 0;
    while (!code && __atomic_load_n((uint64_t *)part[w], __ATOMIC_ACQUIRE) < value) {
        code = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, pair, &here, MPI_STATUS_IGNORE);
        if (!code) code = MPI_Win_sync(window[w]);
    }
    return code;
}

static int put_ping_pong(int w, size_t bytes) {
    int code = me ? await(w, ++number[w]) : put(w, bytes);
    if (!code) code = me ? put(w, bytes) : tell(w, ++number[w]);
    if (!code) code = me ? tell(w, number[w]) : await(w, number[w]);
    return code;
}

static int put_flood(int w, size_t bytes, int times) {
    int code = 0;
    if (me) return MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, pair, MPI_STATUS_IGNORE);
    for (int i = 0; !code && i < times; i++) code = put(w, bytes);
    if (!code) code = MPI_Win_flush(1, window[w]);
    return code ? code : MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, pair);
}

static int message(int out, size_t bytes) {
    MPI_Request request;
    int code = out ? MPI_Isend(mine, (int)bytes, MPI_BYTE, !me, TAG, pair, &request)
                   : MPI_Irecv(created + HEAD, (int)bytes, MPI_BYTE, !me, TAG, pair, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int message_flood(size_t bytes, int times) {
    MPI_Request request[TOGETHER];
    int code = 0;
    for (int done = 0; !code && done < times; done += TOGETHER) {
        int n = 0;
        for (; !code && !me && n < TOGETHER && done + n < times; n++)
            code = MPI_Isend(mine, (int)bytes, MPI_BYTE, 1, TAG, pair, &request[n]);
        for (int i = 0; !code && me && i < TOGETHER && done + i < times; i++)
            code = message(0, bytes);
        for (int i = 0; !code && i < n; i++) code = MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    }
    return code ? code : message(me, 0);
}

static int raw_ping_pong(int way, size_t bytes, int times) {
    int code = 0;
    for (int i = 0; !code && i < times; i++) {
        if (way == RAW_MESSAGE) {
            code = message(!me, bytes);
            if (!code) code = message(me, bytes);
        } else {
            code = put_ping_pong(way, bytes);
        }
    }
    return code;
}

static int raw_flood(int way, size_t bytes, int times) {
    return way == RAW_MESSAGE ? message_flood(bytes, times) : put_flood(way, bytes, times);
}

__attribute__((visibility("default")))
const raw_mpi evener_raw_v1 = {RAW_VERSION, raw_open, raw_ping_pong, raw_flood, raw_close, raw_say};
