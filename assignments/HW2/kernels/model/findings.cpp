// Findings: a line of JSON each, written at once, so that nothing is lost where the code does not come back.

#include "model.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tg {

namespace {

constexpr size_t LONGEST = 4096;

int file = 2;
int call_index = 0;
const char* call_function = "";
uint64_t told[MOST_FINDINGS];
int told_count = 0;

// A line under way.
struct Line {
    char text[LONGEST];
    size_t length = 0;

    void add(const char* format, ...) __attribute__((format(printf, 2, 3))) {
        va_list values;
        va_start(values, format);
        int wrote = vsnprintf(text + length, LONGEST - length, format, values);
        va_end(values);
        if (wrote > 0) {
            length = length + wrote < LONGEST ? length + wrote : LONGEST - 1;
        }
    }

    void string(const char* key, const char* value) {
        if (*value == 0) {
            return;
        }
        add(",\"%s\":\"", key);
        for (size_t i = 0; value[i] != 0 && i < 300; i++) {
            unsigned char c = value[i];
            if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f) {
                add("\\u%04x", c);
            } else {
                add("%c", c);
            }
        }
        add("\"");
    }

    void number(const char* key, long value) {
        if (value != 0) {
            add(",\"%s\":%ld", key, value);
        }
    }

    void thread(const char* key, const Who& who) {
        if (who.known) {
            add(",\"%s\":[%u,%u,%u,%u,%u,%u]", key, who.thread.x, who.thread.y, who.thread.z, who.block.x,
                who.block.y, who.block.z);
        }
    }
};

uint64_t mixed(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3ull; }

uint64_t mixed(uint64_t hash, const char* text) {
    while (*text != 0) {
        hash = mixed(hash, static_cast<unsigned char>(*text++));
    }
    return hash;
}

bool is_new(const Finding& f) {
    uint64_t key = mixed(mixed(0xcbf29ce484222325ull, f.kind), f.access);
    key = mixed(mixed(mixed(key, f.name), f.pc), static_cast<uint64_t>(f.line));
    key = mixed(mixed(mixed(key, call_function), f.text), f.other_access);
    for (int i = 0; i < told_count; i++) {
        if (told[i] == key) {
            return false;
        }
    }
    if (told_count == MOST_FINDINGS) {
        return false;
    }
    told[told_count++] = key;
    return true;
}

}  // namespace

void open_findings(const char* path) {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) {
        file = 2;
    }
}

void set_call(int index, const char* function) {
    call_index = index;
    call_function = function;
}

void tell(const Finding& f) {
    if (!is_new(f)) {
        return;
    }
    Line line;
    line.add("{\"kind\":\"%s\",\"call\":%d", f.kind, call_index);
    line.string("function", call_function);
    line.string("access", f.access);
    line.string("space", f.space);
    line.string("name", f.name);
    line.string("text", f.text);
    line.number("offset", f.offset);
    line.number("size", f.size);
    line.number("bytes", f.bytes);
    line.number("count", f.count);
    line.number("pc", static_cast<long>(f.pc));
    line.number("line", f.line);
    line.thread("who", f.who);
    line.string("other_access", f.other_access);
    line.number("other_pc", static_cast<long>(f.other_pc));
    line.number("other_line", f.other_line);
    line.thread("other", f.other);
    if (now.in_kernel) {
        line.string("kernel", now.kernel);
        line.number("launch_line", now.launch_line);
    }
    line.add("}\n");
    if (write(file, line.text, line.length) < 0) {
        _exit(70);
    }
}

void give_up(int code) {
    fflush(nullptr);
    _exit(code);
}

}  // namespace tg
