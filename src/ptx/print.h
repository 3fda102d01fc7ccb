/* printf of a kernel: the C library's, conversion by conversion, with arguments from the kernel's memory. */
#ifndef GELU_VERIFY_PTX_PRINT_H
#define GELU_VERIFY_PTX_PRINT_H
#include <string>
#include "memory.h"

namespace ptx {
static std::string text_at(environment &e, const lane &l, u64 address, u32 site) {
    std::string text;
    for (;; address++) {
        char c;
        load<1>(e, l, GENERIC, address, &c, site);
        if (!c) return text;
        text += c;
    }
}

/* The format and the buffer of arguments, each aligned as its type is; the number of characters */
static s32 print(environment &e, const lane &l, u64 format_at, u64 next, u32 site) {
    std::string format = text_at(e, l, format_at, site), out;
    char piece[512];
    for (size_t k = 0; k < format.size(); k++) {
        if (format[k] != '%' || (k + 1 < format.size() && format[k + 1] == '%')) {
            if (format[k] == '%') k++;
            out += format[k];
            continue;
        }
        size_t end = format.find_first_of("diouxXcsfFeEgGaAp", k);
        if (end == std::string::npos) {
            out += format.substr(k);
            break;
        }
        std::string one = format.substr(k, end - k + 1);
        char type = format[end];
        k = end;
        if (type == 's' || type == 'p' || strchr("fFeEgGaA", type) || one.find_first_of("ljz") != std::string::npos) {
            u64 word;
            next = (next + 7) & ~7ull;
            load<8>(e, l, GENERIC, next, &word, site);
            next += 8;
            if (type == 's') snprintf(piece, sizeof piece, one.c_str(), text_at(e, l, word, site).c_str());
            else if (strchr("fFeEgGaA", type)) snprintf(piece, sizeof piece, one.c_str(), bits<f64>(word));
            else snprintf(piece, sizeof piece, one.c_str(), word);
        } else {
            u32 word;
            next = (next + 3) & ~3ull;
            load<4>(e, l, GENERIC, next, &word, site);
            next += 4;
            snprintf(piece, sizeof piece, one.c_str(), word);
        }
        out += piece;
    }
    fputs(out.c_str(), stdout);
    fflush(stdout);
    return (s32)out.size();
}
} // namespace ptx

#endif
