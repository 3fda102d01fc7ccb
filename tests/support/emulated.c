/* Calls a function of a shared library: emulated LIBRARY FUNCTION ARGUMENT..., at most four. `=n` is the integer n, `n` the
   address of the next n bytes of the standard input, `@k` that of argument k. Writes the result, an integer, and then those
   bytes as they are after the call. Ends with 3 when something was written behind them. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEHIND 64
typedef size_t (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

int main(int argc, char **argv) {
    uintptr_t value[4] = {0};
    size_t size[4] = {0};
    unsigned char untouched[BEHIND];
    if (argc < 3 || argc > 7) return 2;
    void *library = dlopen(argv[1], RTLD_NOW), *found = library ? dlsym(library, argv[2]) : 0;
    if (!found) return 2;
    memset(untouched, 42, BEHIND);
    for (int k = 0; k < argc - 3; k++) {
        const char *argument = argv[3 + k];
        if (*argument == '=') value[k] = strtoul(argument + 1, 0, 10);
        else if (*argument == '@') value[k] = value[strtoul(argument + 1, 0, 10)];
        else {
            size[k] = strtoul(argument, 0, 10);
            unsigned char *memory = aligned_alloc(64, (size[k] + BEHIND + 63) / 64 * 64);
            if (!memory || fread(memory, 1, size[k], stdin) != size[k]) return 2;
            memcpy(memory + size[k], untouched, BEHIND);
            value[k] = (uintptr_t)memory;
        }
    }
    function call;
    memcpy(&call, &found, sizeof call);
    uint64_t result = call(value[0], value[1], value[2], value[3]);
    fwrite(&result, sizeof result, 1, stdout);
    for (int k = 0; k < 4; k++) {
        if (!size[k]) continue;
        if (memcmp((unsigned char *)value[k] + size[k], untouched, BEHIND)) return 3;
        fwrite((void *)value[k], 1, size[k], stdout);
    }
    return 0;
}
