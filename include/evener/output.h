/* Files that are whole or not there: what a program writes appears under its name at once, when all
 * of it is on disk, and until then an earlier file of that name is as it was.
 *
 *     evn_output *out;
 *     evn_status status = evn_output_open(&out, NULL, "result.csv");
 *     if (!status) {
 *         fprintf(evn_output_stream(out), "t,value\n");           (and what else there is)
 *         status = evn_output_commit(out);
 *         evn_output_close(out);
 *     }
 *
 * Until it is committed a file has no name (open(2), O_TMPFILE): a program that fails or is killed
 * leaves nothing behind, and two that write the same file do not see each other; each file is of
 * one of them, the later one's stays. Where there was none the name is given in one step. Where
 * there was one, the new file has a name of its own, `.evener-` and 16 digits, for the microseconds
 * between link(2) and rename(2); only who is killed just then leaves that. A file system without
 * files of no name (NFS, FAT, FUSE) has them removed as soon as they are made, and copied to such
 * a name when they are committed; elsewhere nothing is copied.
 *
 * - Links are followed: the file that they lead to is replaced (or made), the link stays.
 * - An earlier file's mode stays, and its owner and group where that is allowed; where the group
 *   may not be kept, the new one gets no more than all others have. A new file has the mode that
 * the umask leaves of 0666. Access lists and other hard links to the earlier file stay with that
 * one.
 * - A path of `-`, and any that leads to what standard output or standard error are connected to,
 * is that descriptor, and /dev/fd/N is N: written into where they are, never replaced. So are
 * devices and pipes. What such a place has been given cannot be taken back.
 * - A named pipe without a reader is waited for, 10 s; then it is an error. Its reader may go
 * before the end: that is SIGPIPE, or where it is ignored, EPIPE when it is committed.
 * - A file-size limit is SIGXFSZ, or where that is ignored, an error like a full disk.
 *
 * An output may be used by one thread at a time, several outputs by several threads at once.
 */
#ifndef EVENER_OUTPUT_H
#define EVENER_OUTPUT_H

#include <evener/status.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_output evn_output;

/* Opens the file at `path`. `name` is what asked for it ("EVENER_RECORD"), with which messages will
 * begin, or NULL; both texts are copied. An earlier file is not touched.
 *
 * EVN_SYSTEM: it could not be put there (no such folder, not ours, a folder by itself, a pipe
 * without a reader, a socket); EVN_USAGE: out or path NULL; EVN_MEMORY. */
evn_status evn_output_open(evn_output **out, const char *name, const char *path);

/* The stream into it, which belongs to the output: not to be closed. It has a buffer and no
 * descriptor of its own; that something could not be written is said again by
 * evn_output_commit(). Valid until then. */
FILE *evn_output_stream(evn_output *output);

/* Its descriptor, for pwrite(2) by several threads at a time, and beside the stream only where that
 * is not used; valid until it is committed. -1: it is written into where it is, one byte after
 * another (a pipe, a device, a descriptor of before). */
int evn_output_descriptor(const evn_output *output);

/* Makes sure of room for a file of `bytes`, where the file system can do so; what is not used
 * will be given back. EVN_SYSTEM: there is no room, or a limit forbids such a file. */
evn_status evn_output_reserve(evn_output *output, size_t bytes);

/* Forces all of it to disk and puts it in its place; then also that it is there has been forced to
 * disk, so that it stays when power fails. Once for each output; evn_output_close() follows in any
 * case. NULL is accepted.
 *
 * EVN_SYSTEM: something could not be written, with the reason, and an earlier file is as it was
 * (unless it is the folder alone that could not be forced to disk); EVN_USAGE: it was committed
 * before. */
evn_status evn_output_commit(evn_output *output);

/* Releases it. What has not been committed is gone. NULL is accepted. */
void evn_output_close(evn_output *output);

/* Whether a file of `bytes` could be put there now; leaves nothing, and opens no pipe or device.
 * The errors of evn_output_open() and evn_output_reserve(). */
evn_status evn_output_try(const char *name, const char *path, size_t bytes);

/* Whether two paths lead to the same file, there or not yet, or to the same pipe, so that one of
 * two outputs would be lost, or an input. Devices can be named twice. `-` is standard output. */
int evn_output_same(const char *path, const char *other);

/* A file without a name in `folder`, to be read and written, and gone when its descriptor is closed
 * or the process ends. EVN_SYSTEM: there can be none, EVN_USAGE: folder NULL; then *descriptor is
 * -1. */
evn_status evn_output_scratch(int *descriptor, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
