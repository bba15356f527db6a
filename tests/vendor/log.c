// The stand-ins' log of the calls that reached them, independent of any tracer.
#include "standin.h"
#include "code_object.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef STANDIN_COPY // suffix of this copy's log
#define STANDIN_COPY ""
#endif

struct standin_settings standin = {.devices = 1};

struct lines {
    pthread_mutex_t lock;
    struct lines *next, **link;
    size_t len;
    char text[64 * 1024];
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lines *list;
static pthread_key_t key;
static int closed; // the library's destructor ran: lines go out at once
static __thread struct lines *mine;
static __thread unsigned long numbers[STANDIN_KINDS];
static __thread pid_t tid;

static void write_out(struct lines *l)
{
    int saved = errno, fd = l->len ? open(standin.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    for (size_t at = 0; fd >= 0 && at < l->len;) {
        ssize_t n = write(fd, l->text + at, l->len - at);
        if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? n : 0;
    }
    if (fd >= 0)
        close(fd);
    l->len = 0;
    errno = saved;
}

static void thread_ends(void *lines)
{
    struct lines *l = lines;
    pthread_mutex_lock(&list_lock);
    write_out(l);
    *l->link = l->next;
    if (l->next)
        l->next->link = l->link;
    pthread_mutex_unlock(&list_lock);
    free(l);
    mine = NULL; // a later key destructor that launches starts again; `numbers` continues
}

static struct lines *my_lines(void)
{
    if (mine)
        return mine;
    mine = calloc(1, sizeof *mine);
    pthread_mutex_init(&mine->lock, NULL);
    pthread_mutex_lock(&list_lock);
    mine->next = list;
    mine->link = &list;
    if (list)
        list->link = &mine->next;
    list = mine;
    pthread_mutex_unlock(&list_lock);
    pthread_setspecific(key, mine);
    return mine;
}

int standin_logging(void) { return standin.log != NULL; }

void standin_log(enum standin_kind kind, const char *api, const char *format, ...)
{
    static const char *const KINDS[] = {"launch", "gemm", "conv", "captured", "replay", "call"};
    if (!standin.log)
        return;
    int saved = errno;
    if (!tid)
        tid = syscall(SYS_gettid);
    struct lines *l = my_lines();
    pthread_mutex_lock(&l->lock);
    if (sizeof l->text - l->len < 8192)
        write_out(l);
    l->len += sprintf(l->text + l->len, "%s\t%d\t%lu\t%s\t", KINDS[kind], tid, ++numbers[kind], api);
    va_list args;
    va_start(args, format);
    size_t room = sizeof l->text - l->len - 1, n = vsnprintf(l->text + l->len, room, format, args);
    va_end(args);
    l->len += n < room ? n : room - 1;
    l->text[l->len++] = '\n';
    if (standin.log_sync || closed)
        write_out(l);
    pthread_mutex_unlock(&l->lock);
    errno = saved;
}

void standin_log_flush(void)
{
    if (mine)
        write_out(mine);
}

// The parent writes what it has buffered; the child starts empty, as a new thread.
static void before_fork(void) { pthread_mutex_lock(&list_lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&list_lock); }
static void after_fork_child(void)
{
    pthread_mutex_init(&list_lock, NULL);
    for (struct lines *l = list; l; l = l->next) {
        pthread_mutex_init(&l->lock, NULL);
        l->len = 0;
    }
    memset(numbers, 0, sizeof numbers);
    tid = 0;
}

static long number(const char *name)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 0) : 0;
}

__attribute__((constructor(101))) static void open_log(void)
{
    standin.log = getenv("STANDIN_LOG");
    if (standin.log && !*standin.log)
        standin.log = NULL;
    standin.log_sync = number("STANDIN_LOG_SYNC");
    standin.set_errno = number("STANDIN_ERRNO");
    standin.die_at = number("STANDIN_DIE_AT");
    standin.devices = getenv("STANDIN_DEVICES") ? number("STANDIN_DEVICES") : 1;
    standin.watched = standin.log || standin.set_errno || standin.die_at;
    if (!standin.log)
        return;
    char *path = malloc(strlen(standin.log) + sizeof STANDIN_COPY); // of our own: setenv may move the original
    standin.log = strcat(strcpy(path, standin.log), STANDIN_COPY);
    pthread_key_create(&key, thread_ends);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

__attribute__((destructor(101))) static void close_log(void)
{
    if (!standin.log)
        return;
    closed = 1;
    pthread_key_delete(key); // this library may be unloaded before a thread that launched ends
    pthread_mutex_lock(&list_lock);
    for (struct lines *l = list; l; l = l->next) {
        pthread_mutex_lock(&l->lock);
        write_out(l);
        pthread_mutex_unlock(&l->lock);
    }
    pthread_mutex_unlock(&list_lock);
}
