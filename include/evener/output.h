/* For tools: output files that appear whole or not at all. A file gets its name at once, when all
 * of its content is on disk; until then an earlier file of that name stays unchanged.
 *
 *     evn_output *out;
 *     evn_status status = evn_output_open(&out, NULL, "result.csv");
 *     if (!status) {
 *         fprintf(evn_output_stream(out), "t,value\n");           (and so on)
 *         status = evn_output_commit(out);
 *         evn_output_close(out);
 *     }
 *
 * Until it is committed a file has no name (open(2), O_TMPFILE): a program that fails or is killed
 * leaves nothing behind; of two programs that write the same file, the later commit wins and the
 * files do not mix. A new name is given in one step. To replace an earlier file, the new one has a
 * name of its own, `.evener-` and 16 digits, for the microseconds between link(2) and rename(2);
 * only a process killed just then leaves it behind. On file systems without nameless files (NFS,
 * FAT, FUSE) a file is unlinked as soon as it is made, and copied to such a name when it is
 * committed.
 *
 * - Symbolic links are followed: their target is replaced (or made), the link stays.
 * - The mode of an earlier file is kept, and its owner and group where permitted; if the group
 *   cannot be kept, the new file's group gets no more rights than all others have. A new file has
 *   mode 0666 less the umask. Access lists and other hard links stay with the earlier file.
 * - The path `-`, and any path that leads to the file of standard output or standard error, is that
 *   descriptor; /dev/fd/N is N. These, devices and pipes are written into directly, never replaced,
 *   and their output cannot be taken back.
 * - A named pipe without a reader is waited for, 10 s; then it is an error. If the reader leaves
 *   early, the program gets SIGPIPE, or if that is ignored, EPIPE at the commit.
 * - A file-size limit is SIGXFSZ, or if that is ignored, an error like a full disk.
 *
 * An output may be used by one thread at a time, several outputs by several threads at once. */
#ifndef EVENER_OUTPUT_H
#define EVENER_OUTPUT_H

#include <evener/status.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_output evn_output;

/* Opens the file at `path`. `name` begins messages ("EVENER_RECORD"), or is NULL; both texts are
 * copied. An earlier file is not touched.
 *
 * EVN_SYSTEM: no file can be made there (no such folder, no permission, a folder of that name, a
 * pipe without a reader, a socket); EVN_USAGE: out or path NULL; EVN_MEMORY. */
evn_status evn_output_open(evn_output **out, const char *name, const char *path);

/* The stream into the file, owned by the output: do not close it. It is buffered and has no
 * descriptor of its own; evn_output_commit() reports write errors again. Valid until then. */
FILE *evn_output_stream(evn_output *output);

/* The file's descriptor, for pwrite(2) by several threads at a time; do not mix it with the stream.
 * Valid until the commit. -1: the target is written into directly and sequentially (a pipe, a
 * device, an inherited descriptor). */
int evn_output_descriptor(const evn_output *output);

/* Reserves room for a file of `bytes`, if the file system can; unused room is given back.
 * EVN_SYSTEM: there is no room, or a limit forbids such a file. */
evn_status evn_output_reserve(evn_output *output, size_t bytes);

/* Forces the content to disk, gives the file its name, and forces the name to disk, so that it
 * survives a power failure. Once for each output; evn_output_close() follows in any case. NULL is
 * accepted.
 *
 * EVN_SYSTEM: a write failed, with the reason, and an earlier file is unchanged (unless only the
 * folder could not be forced to disk); EVN_USAGE: it was committed before. */
evn_status evn_output_commit(evn_output *output);

/* Releases the output. Uncommitted content is lost. NULL is accepted. */
void evn_output_close(evn_output *output);

/* EVN_OK if a file of `bytes` could be written there now; leaves nothing, and opens no pipe or
 * device. Errors of evn_output_open() and evn_output_reserve(). */
evn_status evn_output_try(const char *name, const char *path, size_t bytes);

/* 1 if two paths lead to the same file, existing or not, or to the same pipe, so that one of two
 * outputs would be lost, or an input. Devices can be named twice. `-` is standard output. */
int evn_output_same(const char *path, const char *other);

/* Opens a nameless file in `folder` for reading and writing; it vanishes when its descriptor is
 * closed or the process ends. EVN_SYSTEM: it cannot be made, EVN_USAGE: folder NULL; then
 * *descriptor is -1. */
evn_status evn_output_scratch(int *descriptor, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
