/* Outputs: whole or not at all, whatever fails and whoever else writes; their modes, links, pipes
 * and devices; which paths are the same file. Some cases are gone through three times: as it is
 * here, without files of no name, and without a way to give them one.
 *
 * Run: ctest -R '^output$', or build/tests/test-output
 */
#undef _FORTIFY_SOURCE
#include "check.h"
#include <dirent.h>
#include <errno.h>
#include <evener/output.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* -- a file system that can do less, or fails -- */

enum { ALL, NO_UNNAMED, NO_LINKS, WAYS };
static int way;
static const char *failing; /* the call that fails, once `after` others of it have not */
static int after, failure;

static int fails(const char *call) {
    if (!failing || strcmp(call, failing) != 0 || after-- > 0) return 0;
    errno = failure;
    return 1;
}

int openat(int folder, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    errno = EOPNOTSUPP;
    if (way == NO_UNNAMED && (flags & O_TMPFILE) == O_TMPFILE) return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int linkat(int from, const char *path, int folder, const char *name, int flags) {
    errno = ENOENT;
    if (way == NO_LINKS || fails("linkat")) return -1;
    return (int)syscall(SYS_linkat, from, path, folder, name, flags);
}

int renameat(int from, const char *path, int folder, const char *name) {
    if (fails("renameat")) return -1;
    return (int)syscall(SYS_renameat2, from, path, folder, name, 0);
}

int fsync(int fd) { return fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd); }
ssize_t write(int fd, const void *data, size_t bytes) {
    return fails("write") ? -1 : syscall(SYS_write, fd, data, bytes);
}

/* -- files -- */

static char root[] = "/var/tmp/evener-output-XXXXXX";

static const char *in_folder(const char *name) {
    static char text[16][300];
    static int next;
    char *path = text[next++ % 16];
    snprintf(path, sizeof text[0], "%s/%s", root, name);
    return path;
}

static void put(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void assert_holds(const char *path, const char *text) {
    char there[256] = "";
    FILE *in = fopen(path, "r");
    if (!in) fail_msg("%s is not there", path);
    const size_t n = fread(there, 1, sizeof there - 1, in);
    fclose(in);
    there[n] = 0;
    assert_string_equal(there, text);
}

static int count_files(int remove) {
    DIR *dir = opendir(root);
    int n = 0;
    for (const struct dirent *e; (e = readdir(dir));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        n++;
        if (remove && unlinkat(dirfd(dir), e->d_name, 0))
            unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
    return n;
}

static mode_t mode_of(const char *path) {
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return s.st_mode & 07777;
}

static evn_output *begin(const char *path, const char *text) {
    evn_output *o;
    if (evn_output_open(&o, NULL, path)) fail_msg("%s", evn_message());
    fputs(text, evn_output_stream(o));
    return o;
}

static evn_status end(evn_output *o) {
    const evn_status status = evn_output_commit(o);
    evn_output_close(o);
    return status;
}

static void refuses(const char *path, const char *says) {
    evn_output *o;
    assert_int_equal(evn_output_open(&o, "RESULT", path), EVN_SYSTEM);
    assert_null(o);
    if (strncmp(evn_message(), "RESULT: ", 8) != 0 || !strstr(evn_message(), says))
        fail_msg("%s: \"%s\", expected \"%s\"", path, evn_message(), says);
    assert_int_equal(evn_output_try(NULL, path, 0), EVN_SYSTEM);
}

static int set_up(void **state) {
    (void)state;
    return !mkdtemp(root);
}

static int tear_down(void **state) {
    (void)state;
    way = ALL;
    failing = NULL;
    count_files(1);
    return rmdir(root);
}

/* After each test: as it was. */
static int clean(void **state) {
    (void)state;
    way = ALL;
    failing = NULL;
    count_files(1);
    return 0;
}

/* -- whole or not at all -- */

TEST_WITH(whole, NULL, clean) {
    const char *path = in_folder("a");
    for (way = ALL; way < WAYS; way++) {
        evn_output *o = begin(path, "first");
        assert_int_equal(fflush(evn_output_stream(o)), 0);
        assert_int_equal(count_files(0), 0);
        if (way == ALL) failing = "renameat"; /* one step is enough */
        assert_int_equal(end(o), EVN_OK);
        failing = NULL;
        assert_holds(path, "first");
        o = begin(path, "second");
        assert_int_equal(count_files(0), 1);
        evn_output_close(o); /* what was not committed is gone */
        assert_holds(path, "first");
        assert_int_equal(end(begin(path, "third, and longer")), EVN_OK);
        assert_holds(path, "third, and longer");
        assert_int_equal(end(begin(path, "")), EVN_OK);
        assert_holds(path, "");
        assert_int_equal(count_files(1), 1);
    }
}

/* Somebody else makes the file, or takes it away, while it is written. */
TEST_WITH(meanwhile, NULL, clean) {
    const char *path = in_folder("a");
    for (way = ALL; way < WAYS; way++) {
        evn_output *o = begin(path, "ours");
        put(path, "theirs");
        assert_int_equal(end(o), EVN_OK);
        assert_holds(path, "ours");
        o = begin(path, "again");
        unlink(path);
        assert_int_equal(end(o), EVN_OK);
        assert_holds(path, "again");
        o = begin(path, "lost");
        unlink(path);
        assert_int_equal(mkdir(path, 0777), 0);
        assert_fails(end(o), EVN_SYSTEM, "a could not be written: Is a directory");
        assert_int_equal(count_files(1), 1);
    }
}

/* A folder that was moved is the same one. */
TEST_WITH(moved, NULL, clean) {
    assert_int_equal(mkdir(in_folder("from"), 0777), 0);
    evn_output *o = begin(in_folder("from/a"), "text");
    assert_int_equal(rename(in_folder("from"), in_folder("to")), 0);
    assert_int_equal(end(o), EVN_OK);
    assert_holds(in_folder("to/a"), "text");
    unlink(in_folder("to/a"));
}

/* The longest of names leaves no room for a longer one beside it. */
TEST_WITH(long_name, NULL, clean) {
    char name[256], path[500];
    memset(name, 'n', 255);
    name[255] = 0;
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (way = ALL; way < WAYS; way++) {
        assert_int_equal(end(begin(path, "one")), EVN_OK);
        assert_int_equal(end(begin(path, "two")), EVN_OK);
        assert_holds(path, "two");
        assert_int_equal(count_files(1), 1);
    }
    snprintf(path, sizeof path, "%s/%sn", root, name);
    refuses(path, "File name too long");
}

/* Each call that can fail does so, with and without an earlier file. */
TEST_WITH(failures, NULL, clean) {
    static const struct {
        const char *call;
        int after, failure, way, earlier;
        const char *says;
    } cases[] = {
        {"write", 0, ENOSPC, ALL, 0, "No space left on device"},
        {"write", 0, ENOSPC, ALL, 1, "No space left on device"},
        {"write", 2, EDQUOT, ALL, 1, "Disk quota exceeded"},
        {"write", 2, EIO, NO_UNNAMED, 1, "Input/output error"},
        {"write", 5, ENOSPC, NO_UNNAMED, 1, "No space left on device"}, /* of the copy */
        {"write", 5, ENOSPC, NO_LINKS, 0, "No space left on device"},
        {"fsync", 0, EIO, ALL, 0, "Input/output error"},
        {"fsync", 0, EIO, ALL, 1, "Input/output error"},
        {"fsync", 0, EDQUOT, NO_UNNAMED, 1, "Disk quota exceeded"},
        {"renameat", 0, EBUSY, ALL, 1, "Device or resource busy"},
        {"renameat", 0, EBUSY, NO_LINKS, 0, "Device or resource busy"},
    };
    const char *path = in_folder("a");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].earlier) put(path, "earlier");
        way = cases[i].way;
        evn_output *o = begin(path, "begins");
        failing = cases[i].call;
        after = cases[i].after;
        failure = cases[i].failure;
        for (int k = 0; k < 50000; k++) fputs("lines\n", evn_output_stream(o));
        assert_int_equal(evn_output_commit(o), EVN_SYSTEM);
        failing = NULL;
        if (!strstr(evn_message(), "a could not be written: ") ||
            !strstr(evn_message(), cases[i].says))
            fail_msg("case %zu: %s", i, evn_message());
        assert_int_equal(evn_output_commit(o), EVN_USAGE);
        evn_output_close(o);
        if (cases[i].earlier) assert_holds(path, "earlier");
        assert_int_equal(count_files(1), cases[i].earlier);
    }
}

/* Only the folder cannot be forced to disk: the file is there, and this is said. */
TEST_WITH(folder_not_forced, NULL, clean) {
    evn_output *o = begin(in_folder("a"), "text");
    failing = "fsync";
    after = 1;
    failure = EIO;
    assert_int_equal(end(o), EVN_SYSTEM);
    assert_holds(in_folder("a"), "text");
    failing = NULL;
    o = begin(in_folder("a"), "other");
    failing = "fsync";
    after = 1;
    failure = EINVAL; /* not what this file system does */
    assert_int_equal(end(o), EVN_OK);
}

TEST_WITH(size_limit, NULL, clean) {
    const char *path = in_folder("a");
    const pid_t child = fork();
    if (!child) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100000, 100000});
        signal(SIGXFSZ, SIG_IGN);
        evn_output *o = begin(path, "");
        int wrong = evn_output_reserve(o, 100000) || evn_output_reserve(o, 100001) != EVN_SYSTEM ||
                    !strstr(evn_message(), "a has no room for its 0.1 MB: File too large");
        for (int i = 0; i < 30000; i++) fputs("lines\n", evn_output_stream(o));
        wrong |= (end(o) != EVN_SYSTEM) << 1 |
                 !strstr(evn_message(), "a could not be written: File too large") << 2;
        wrong |= (evn_output_try("X", path, 100001) != EVN_SYSTEM) << 3 |
                 (evn_output_try("X", path, 100000) != EVN_OK) << 4;
        _exit(wrong);
    }
    assert_ends_well(child);
    assert_int_equal(count_files(0), 0);
}

/* What was made sure of is not more than the file in the end. */
TEST_WITH(reserve, NULL, clean) {
    evn_output *o = begin(in_folder("a"), "");
    assert_ok(evn_output_reserve(o, 8 << 20));
    fputs("text", evn_output_stream(o));
    assert_int_equal(end(o), EVN_OK);
    struct stat s;
    assert_int_equal(stat(in_folder("a"), &s), 0);
    assert_int_equal(s.st_size, 4);
    assert_true(s.st_blocks * 512 < 1 << 20);
    assert_fails(evn_output_try(NULL, in_folder("b"), (size_t)1 << 60), EVN_SYSTEM,
                 "b has no room for its 1.15e+12 MB: ");
    assert_ok(evn_output_try(NULL, in_folder("b"), 1000));
    assert_int_equal(count_files(0), 1);
}

/* Written out of order by its descriptor; what is written into has none. */
TEST_WITH(descriptor, NULL, clean) {
    for (way = ALL; way < WAYS; way++) {
        evn_output *o = begin(in_folder("a"), "");
        const int fd = evn_output_descriptor(o);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, "end", 3, 70000), 3);
        assert_int_equal(pwrite(fd, "begin", 5, 0), 5);
        assert_int_equal(end(o), EVN_OK);
        char text[70004] = "";
        FILE *in = fopen(in_folder("a"), "r");
        assert_non_null(in);
        assert_int_equal(fread(text, 1, sizeof text, in), 70003);
        fclose(in);
        assert_string_equal(text, "begin");
        assert_string_equal(text + 70000, "end");
    }
    way = ALL;
    evn_output *standard;
    assert_ok(evn_output_open(&standard, NULL, "-"));
    assert_int_equal(evn_output_descriptor(standard), -1);
    evn_output_close(standard);
    assert_int_equal(evn_output_descriptor(NULL), -1);
}

TEST_WITH(misuse, NULL, clean) {
    evn_output *o;
    int fd;
    assert_int_equal(evn_output_open(&o, "X", NULL), EVN_USAGE);
    assert_null(o);
    assert_int_equal(evn_output_try("X", NULL, 0), EVN_USAGE);
    assert_int_equal(evn_output_open(NULL, "X", in_folder("a")), EVN_USAGE);
    assert_null(evn_output_stream(NULL));
    assert_int_equal(evn_output_reserve(NULL, 1), EVN_USAGE);
    assert_int_equal(evn_output_scratch(NULL, root), EVN_USAGE);
    assert_ok(evn_output_commit(NULL));
    evn_output_close(NULL);
    assert_int_equal(evn_output_same(NULL, "a"), 0);
    assert_int_equal(evn_output_scratch(&fd, NULL), EVN_USAGE);
    assert_int_equal(fd, -1);
    o = begin(in_folder("a"), "text");
    assert_ok(evn_output_commit(o));
    fputs("more", evn_output_stream(o));
    assert_int_equal(evn_output_commit(o), EVN_USAGE);
    evn_output_close(o);
    assert_holds(in_folder("a"), "text");
}

/* -- modes and links -- */

TEST_WITH(modes, NULL, clean) {
    static const mode_t mode[] = {0600, 0644, 0666, 0755, 0440};
    const char *path = in_folder("a");
    const mode_t mask = umask(027);
    for (way = ALL; way < WAYS; way++) {
        assert_int_equal(end(begin(path, "new")), EVN_OK);
        assert_int_equal(mode_of(path), 0640);
        for (size_t i = 0; i < sizeof mode / sizeof *mode; i++) {
            if (!(mode[i] & 0200) && geteuid()) continue;
            assert_int_equal(chmod(path, mode[i]), 0);
            assert_int_equal(end(begin(path, "again")), EVN_OK);
            assert_int_equal(mode_of(path), mode[i]);
        }
        count_files(1);
    }
    umask(mask);
}

/* The owner and group stay where we may say so; where not, another group gets nothing. */
TEST_WITH(owners, NULL, clean) {
    if (geteuid()) skip();
    const char *path = in_folder("a");
    struct stat s;
    put(path, "theirs");
    assert_int_equal(chown(path, 12345, 54321) || chmod(path, 0664), 0);
    assert_int_equal(end(begin(path, "ours")), EVN_OK);
    assert_int_equal(stat(path, &s), 0);
    assert_true(s.st_uid == 12345 && s.st_gid == 54321 && mode_of(path) == 0664);
    assert_int_equal(chmod(root, 0777), 0);
    assert_int_equal(chmod(path, 0662), 0);
    pid_t child = fork();
    if (!child) { /* neither owner nor of the group */
        if (setgid(777) || setuid(777)) _exit(9);
        _exit(end(begin(path, "others")) != EVN_OK);
    }
    assert_ends_well(child);
    assert_int_equal(stat(path, &s), 0);
    assert_true(s.st_uid == 777 && s.st_gid == 777);
    assert_int_equal(mode_of(path), 0622);
    /* where only owners may take files away, as in /tmp */
    assert_int_equal(chmod(root, 01777), 0);
    child = fork();
    if (!child) {
        if (setgid(778) || setuid(778)) _exit(9);
        refuses(path, "Operation not permitted; name a file in a folder");
        _exit(0);
    }
    assert_ends_well(child);
    assert_int_equal(chmod(root, 0700), 0);
}

TEST_WITH(links, NULL, clean) {
    struct stat s;
    for (way = ALL; way < WAYS; way++) {
        assert_int_equal(mkdir(in_folder("other"), 0777), 0);
        put(in_folder("other/a"), "earlier");
        assert_int_equal(symlink("other/a", in_folder("one")), 0);
        assert_int_equal(symlink("one", in_folder("two")), 0);
        assert_int_equal(symlink("other/new", in_folder("nowhere")), 0);
        assert_int_equal(end(begin(in_folder("two"), "later")), EVN_OK);
        assert_holds(in_folder("other/a"), "later");
        assert_int_equal(end(begin(in_folder("nowhere"), "new")), EVN_OK);
        assert_holds(in_folder("other/new"), "new");
        static const char *const link[] = {"one", "two", "nowhere"};
        for (int i = 0; i < 3; i++) {
            assert_int_equal(lstat(in_folder(link[i]), &s), 0);
            assert_true(S_ISLNK(s.st_mode));
        }
        unlink(in_folder("other/a"));
        unlink(in_folder("other/new"));
        assert_int_equal(count_files(1), 4);
    }
    assert_int_equal(symlink("y", in_folder("x")) || symlink("x", in_folder("y")), 0);
    refuses(in_folder("x"), "Too many levels of symbolic links");
}

/* -- written into -- */

TEST_WITH(refused, NULL, clean) {
    refuses(root, "Is a directory");
    refuses("/nowhere/a", "No such file or directory; name a file in a folder that exists");
    refuses("", "No such file or directory");
    refuses(in_folder("a/"), "No such file or directory");
    refuses("/dev/fd/777", "Bad file descriptor");
    put(in_folder("file"), "");
    refuses(in_folder("file/a"), "Not a directory");
    const int s = socket(AF_UNIX, SOCK_STREAM, 0);
    int ends[2];
    char path[40];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    refuses(path, "Bad file descriptor");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%.100s", in_folder("socket"));
    assert_int_equal(bind(s, (struct sockaddr *)&name, sizeof name), 0);
    refuses(in_folder("socket"), "Operation not supported");
    close(s);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(count_files(0), 2);
}

static void *read_late(void *arg) {
    const struct timespec pause = {.tv_nsec = 200000000};
    static char text[64];
    nanosleep(&pause, NULL);
    const int fd = open(in_folder("pipe"), O_RDONLY);
    ssize_t n = 0, more;
    while (fd >= 0 && (more = read(fd, text + n, sizeof text - 1 - (size_t)n)) > 0) n += more;
    text[n] = 0;
    close(fd);
    return (void)arg, text;
}

/* A pipe stays one; its reader may come after us, and where none comes this is said. */
TEST_WITH(pipe, NULL, clean) {
    pthread_t reader;
    void *text;
    struct stat s;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_late, NULL), 0);
    evn_output *o = begin(in_folder("pipe"), "through");
    assert_ok(evn_output_reserve(o, 1000));
    assert_int_equal(end(o), EVN_OK);
    assert_int_equal(pthread_join(reader, &text), 0);
    assert_string_equal(text, "through");
    /* looking whether it could be written is nothing that its reader sees */
    assert_int_equal(pthread_create(&reader, NULL, read_late, NULL), 0);
    assert_ok(evn_output_try(NULL, in_folder("pipe"), 1000));
    assert_int_equal(end(begin(in_folder("pipe"), "again")), EVN_OK);
    assert_int_equal(pthread_join(reader, &text), 0);
    assert_string_equal(text, "again");
    assert_fails(evn_output_open(&o, "X", in_folder("pipe")), EVN_SYSTEM,
                 "nothing has opened this pipe for reading within 10 s");
    assert_int_equal(stat(in_folder("pipe"), &s), 0);
    assert_true(S_ISFIFO(s.st_mode));
}

/* Standard output, by any name, goes on where it was; a file that it goes to is not replaced. */
TEST_WITH(standard_output, NULL, clean) {
    const char *path = in_folder("out");
    const char *const name[] = {"-", "/dev/stdout", "/proc/self/fd/1", path};
    for (int i = 0; i < 4; i++) {
        fflush(stdout);
        const int kept = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        struct stat before, now;
        assert_int_equal(fstat(fd, &before), 0);
        assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
        printf("one ");
        fflush(stdout);
        evn_output *o = begin(name[i], "two ");
        const evn_status status = end(o);
        printf("three");
        fflush(stdout);
        dup2(kept, STDOUT_FILENO);
        close(kept);
        close(fd);
        assert_int_equal(status, EVN_OK);
        assert_holds(path, "one two three");
        assert_int_equal(stat(path, &now), 0);
        assert_true(before.st_ino == now.st_ino);
        assert_int_equal(count_files(1), 1);
    }
}

/* -- which are the same -- */

TEST_WITH(same, NULL, clean) {
    char a[200], dotted[220];
    snprintf(a, sizeof a, "%s", in_folder("a"));
    snprintf(dotted, sizeof dotted, "%s/./other/../new", root);
    put(a, "");
    assert_int_equal(mkdir(in_folder("other"), 0777), 0);
    assert_int_equal(link(a, in_folder("hard")) || symlink("a", in_folder("soft")) ||
                         symlink("new", in_folder("dangling")) || mkfifo(in_folder("p"), 0600),
                     0);
    assert_true(evn_output_same(a, a));
    assert_true(evn_output_same(a, in_folder("hard")));
    assert_true(evn_output_same(in_folder("soft"), a));
    assert_true(evn_output_same(in_folder("new"), dotted));
    assert_true(evn_output_same(in_folder("dangling"), dotted));
    assert_true(evn_output_same(in_folder("p"), in_folder("p")));
    assert_true(evn_output_same("-", "-"));
    assert_true(evn_output_same("-", "/dev/stdout"));
    assert_false(evn_output_same("/dev/null", "/dev/null"));
    assert_false(evn_output_same(a, in_folder("new")));
    assert_false(evn_output_same(in_folder("new"), in_folder("newer")));
    assert_false(evn_output_same(in_folder("new"), in_folder("other/new")));
    assert_false(evn_output_same("/nowhere/a", "/nowhere/a"));
    assert_int_equal(count_files(0), 6);
}

TEST_WITH(scratch, NULL, clean) {
    for (way = ALL; way < WAYS; way++) {
        int fd;
        char back[5] = "";
        assert_ok(evn_output_scratch(&fd, root));
        assert_int_equal(count_files(0), 0);
        assert_int_equal(pwrite(fd, "text", 4, 4096), 4);
        assert_int_equal(pread(fd, back, 4, 4096), 4);
        assert_string_equal(back, "text");
        close(fd);
    }
    int fd;
    assert_int_equal(evn_output_scratch(&fd, "/nowhere"), EVN_SYSTEM);
    assert_string_equal(evn_message(),
                        "/nowhere: no file can be made there: No such file or directory");
    assert_int_equal(fd, -1);
}

/* -- several at once, and killed -- */

/* Writes the file `times` (for ever where 0), with one letter alone; a new name each time where
 * `path` has a dot. */
static void write_letters(const char *path, char letter, int times) {
    char text[20000], name[220];
    memset(text, letter, sizeof text);
    for (int i = 0; !times || i < times; i++) {
        evn_output *o;
        snprintf(name, sizeof name, "%s%d", path, strchr(path, '.') ? i : 0);
        if (evn_output_open(&o, NULL, name)) _exit(1);
        for (int k = 0; k < 10; k++) fwrite(text, 1, sizeof text, evn_output_stream(o));
        if (end(o)) _exit(2);
    }
    _exit(0);
}

/* Whole, and of one of them. */
static void assert_letters(const char *path) {
    static char text[200001];
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fread(text, 1, sizeof text, in), 200000);
    fclose(in);
    for (int i = 1; i < 200000; i++)
        if (text[i] != text[0]) fail_msg("%s: %c and %c", path, text[0], text[i]);
}

TEST_WITH(two_at_once, NULL, clean) {
    for (way = ALL; way < WAYS; way++)
        for (int round = 0; round < 40; round++) {
            pid_t child[2];
            for (int c = 0; c < 2; c++)
                if (!(child[c] = fork())) write_letters(in_folder("a"), "ab"[c], 1);
            for (int c = 0; c < 2; c++) {
                int status;
                assert_int_equal(waitpid(child[c], &status, 0), child[c]);
                assert_int_equal(status, 0);
            }
            assert_letters(in_folder("a0"));
            assert_int_equal(count_files(0), 1);
        }
}

static void kill_soon(pid_t child, unsigned *seed) {
    const struct timespec pause = {.tv_nsec = 1000 * (rand_r(seed) % 20000)};
    nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Killed at any moment: new files are there whole or not at all; where one is replaced, a kill in
 * the microseconds between two calls may leave a whole file more. */
TEST_WITH(killed, NULL, clean) {
    unsigned seed = 1;
    for (int round = 0; round < 40; round++) {
        const int replaces = round % 2;
        const pid_t child = fork();
        if (!child) write_letters(in_folder(replaces ? "a" : "a."), 'a', 0);
        kill_soon(child, &seed);
        DIR *dir = opendir(root);
        for (const struct dirent *e; (e = readdir(dir));) {
            if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
            assert_letters(in_folder(e->d_name));
            if (e->d_name[0] != 'a' && !replaces) fail_msg("%s was left", e->d_name);
        }
        closedir(dir);
        assert_true(count_files(1) <= (replaces ? 2 : 10000));
    }
}

RUN_TESTS(set_up, tear_down)
