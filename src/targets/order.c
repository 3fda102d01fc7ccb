#define _GNU_SOURCE
#include "order.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 65536, PATIENCE_MS = 2000, GOOD = 90 /* what no function ends its process with */ };

/* In the new process: whatever happens here is seen by nobody. Which handlers the old one had, and what it would tell
   through them, is not for this one. */
static void call(uintptr_t function, void *first, void *second, uint64_t n) {
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGTERM};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) signal(fatal[i], SIG_DFL);
    int nowhere = open("/dev/null", O_RDWR);
    for (int file = 0; nowhere >= 0 && file < 3; file++) dup2(nowhere, file);
    ((void (*)(void *, void *, size_t))function)(first, second, n);
    _exit(GOOD);
}

/* Whether the process has ended by itself and well, before our patience did. */
static int returned(pid_t process) {
    for (int waited = 0, status; waited < PATIENCE_MS; waited++) {
        pid_t found = waitpid(process, &status, WNOHANG);
        if (found) return found == process && WIFEXITED(status) && WEXITSTATUS(status) == GOOD;
        poll(NULL, 0, 1);
    }
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    return 0;
}

int arrays_written(uintptr_t function, const void *values, uint64_t n, uint64_t itemsize) {
    uint64_t used = n * itemsize, room = (used + PAGE - 1) / PAGE * PAGE, size = 2 * room + 3 * PAGE;
    char *memory = mmap(NULL, size, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return UNKNOWN;
    char *first = memory + PAGE, *second = memory + 2 * PAGE + room;
    int found = UNKNOWN;
    if (!mprotect(first, room, PROT_READ | PROT_WRITE) && !mprotect(second, room, PROT_READ | PROT_WRITE)) {
        memcpy(first, values, used);
        memcpy(second, (const char *)values + used, used);
        pid_t process = fork();
        if (process == 0) call(function, first, second, n);
        if (process > 0 && returned(process))
            found = (memcmp(first, values, used) ? WROTE_FIRST : 0) |
                    (memcmp(second, (const char *)values + used, used) ? WROTE_SECOND : 0);
    }
    munmap(memory, size);
    return found;
}
