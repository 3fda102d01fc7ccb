/* A plugin of qemu-user: writes how many instructions were executed to the standard error. Debian has no qemu-plugin.h; these
   are the declarations of QEMU 4.2 to 8.2 that it takes. */
#include <inttypes.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))
typedef uint64_t plugin_id;
struct block; /* of translated instructions */
extern size_t qemu_plugin_tb_n_insns(const struct block *);
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct block *));
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct block *, int operation, void *, uint64_t);
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

EXPORT int qemu_plugin_version = 1;
static uint64_t executed;

static void translated(plugin_id id, struct block *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, 0 /* add */, &executed, qemu_plugin_tb_n_insns(block));
}

static void finished(plugin_id id, void *data) {
    (void)id, (void)data;
    fprintf(stderr, "%" PRIu64 "\n", executed);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finished, 0);
    return 0;
}
