/* evener model td-bem --gpus: nodes with GPUs. */
#pragma once

/* Words of the command; NULL: the default. Latency and seconds a byte between two nodes. */
struct model_gpus {
    const char *nodes, *gpus, *memory, *json;
    int quiet;
    double latency, per_byte;
};

/* Prints the table and writes the record. 0, or an exit status after a message. */
int model_gpus(const struct model_gpus *words);
