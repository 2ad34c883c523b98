/* Traces a program's system calls and, at a file operation below a folder, kills the program,
   refuses the operation, or delays it. TensorFlow writes through the C++ library, Python through the
   C library, and both buffer: only the kernel's side sees all operations.

   The program calls `follow_me`, its parent `follow`. A seccomp filter has the kernel stop the program
   at the calls in the table below only; all others run at full speed. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef __x86_64__
#error "This runs on x86-64 Linux only: elsewhere registers have other names."
#endif

/* Keep in step with parity/faults/operations.py. */
enum { COUNT, KILL_BEFORE, KILL_HALFWAY, KILL_AFTER, REFUSE, DELAY };
enum { TAKES_SPACE = 1, WAITS_FOR_DISK = 2 };

/* The arguments that name the file: a descriptor, a path, or a folder's descriptor and a path. */
enum target { FD, PATH, AT };

static const struct call {
  long number;
  const char *name;
  enum target target;
  int first, second; /* the arguments that name files; -1: there is no second */
  int kind;
} CALLS[] = {
    {SYS_open, "open", PATH, 0, -1, TAKES_SPACE},
    {SYS_openat, "open", AT, 0, -1, TAKES_SPACE},
    {SYS_creat, "open", PATH, 0, -1, TAKES_SPACE},
    {SYS_write, "write", FD, 0, -1, TAKES_SPACE | WAITS_FOR_DISK},
    {SYS_pwrite64, "write", FD, 0, -1, TAKES_SPACE | WAITS_FOR_DISK},
    {SYS_writev, "write", FD, 0, -1, TAKES_SPACE | WAITS_FOR_DISK},
    {SYS_pwritev, "write", FD, 0, -1, TAKES_SPACE | WAITS_FOR_DISK},
    {SYS_sendfile, "write", FD, 0, -1, TAKES_SPACE | WAITS_FOR_DISK},
    {SYS_copy_file_range, "write", FD, 2, -1, TAKES_SPACE | WAITS_FOR_DISK},
    {SYS_fsync, "fsync", FD, 0, -1, TAKES_SPACE | WAITS_FOR_DISK},
    {SYS_fdatasync, "fsync", FD, 0, -1, TAKES_SPACE | WAITS_FOR_DISK},
    {SYS_rename, "rename", PATH, 0, 1, WAITS_FOR_DISK},
    {SYS_renameat, "rename", AT, 0, 2, WAITS_FOR_DISK},
    {SYS_renameat2, "rename", AT, 0, 2, WAITS_FOR_DISK},
    {SYS_unlink, "unlink", PATH, 0, -1, 0},
    {SYS_unlinkat, "unlink", AT, 0, -1, 0},
    {SYS_rmdir, "rmdir", PATH, 0, -1, 0},
    {SYS_mkdir, "mkdir", PATH, 0, -1, TAKES_SPACE},
    {SYS_mkdirat, "mkdir", AT, 0, -1, TAKES_SPACE},
    {SYS_truncate, "truncate", PATH, 0, -1, 0},
    {SYS_ftruncate, "truncate", FD, 0, -1, 0},
    {SYS_fallocate, "allocate", FD, 0, -1, TAKES_SPACE},
    {SYS_link, "link", PATH, 0, 1, TAKES_SPACE},
    {SYS_linkat, "link", AT, 0, 2, TAKES_SPACE},
    {SYS_symlink, "symlink", PATH, 1, -1, TAKES_SPACE},
    {SYS_symlinkat, "symlink", AT, 1, -1, TAKES_SPACE},
};
#define NUMBER_OF_CALLS ((int)(sizeof CALLS / sizeof *CALLS))
#define OPENS(call) ((call)->name[0] == 'o')

/* A call in progress in one thread. */
static struct pending {
  pid_t thread;
  int refused, then_kill;
} PENDING[1024];

static struct pending *pending_of(pid_t thread) {
  struct pending *free_one = NULL;
  for (int i = 0; i < 1024; i++) {
    if (PENDING[i].thread == thread) return &PENDING[i];
    if (!PENDING[i].thread && !free_one) free_one = &PENDING[i];
  }
  if (!free_one) abort();
  *free_one = (struct pending){.thread = thread};
  return free_one;
}

static unsigned long argument(const struct user_regs_struct *of, int number) {
  const unsigned long all[] = {of->rdi, of->rsi, of->rdx, of->r10, of->r8, of->r9};
  return all[number];
}

static void link_of(pid_t thread, const char *what, long number, char *path) {
  char name[64];
  if (number < 0)
    snprintf(name, sizeof name, "/proc/%d/%s", thread, what);
  else
    snprintf(name, sizeof name, "/proc/%d/%s/%ld", thread, what, number);
  ssize_t length = readlink(name, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
}

static void text_of(pid_t thread, unsigned long address, char *text) {
  size_t length = 0;
  while (length < PATH_MAX - 1) { /* page by page: the next one may be unmapped */
    size_t part = 4096 - (address + length) % 4096;
    if (part > PATH_MAX - 1 - length) part = PATH_MAX - 1 - length;
    struct iovec here = {text + length, part}, there = {(void *)(address + length), part};
    if (process_vm_readv(thread, &here, 1, &there, 1, 0) != (ssize_t)part) break;
    if (memchr(text + length, 0, part)) return;
    length += part;
  }
  text[length] = 0;
}

/* The file that an argument of a call names; "" if there is none. */
static void file_of(pid_t thread, const struct user_regs_struct *regs, enum target target, int at,
                    char *path) {
  char name[PATH_MAX], folder[PATH_MAX];
  long descriptor = (int)argument(regs, at);
  if (target == FD) {
    link_of(thread, "fd", descriptor, path);
    return;
  }
  text_of(thread, argument(regs, target == AT ? at + 1 : at), name);
  if (name[0] == '/') {
    memcpy(path, name, PATH_MAX);
    return;
  }
  if (target == AT && descriptor != AT_FDCWD)
    link_of(thread, "fd", descriptor, folder);
  else
    link_of(thread, "cwd", -1, folder);
  snprintf(path, PATH_MAX, "%.2000s/%.2000s", folder, name);
}

static int is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static const struct call *call_of(pid_t thread, const struct user_regs_struct *regs,
                                  const char *folder, char *path) {
  for (int i = 0; i < NUMBER_OF_CALLS; i++) {
    const struct call *call = &CALLS[i];
    if ((long)regs->orig_rax != call->number) continue;
    if (OPENS(call) && call->number != SYS_creat) {
      long flags = argument(regs, call->target == AT ? 2 : 1);
      if (!(flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))) return NULL;
    }
    file_of(thread, regs, call->target, call->first, path);
    if (is_below(path, folder)) return call;
    if (call->second < 0) return NULL;
    file_of(thread, regs, call->target, call->second, path);
    return is_below(path, folder) ? call : NULL;
  }
  return NULL;
}

static int writes_bytes(const struct user_regs_struct *regs) {
  long number = (long)regs->orig_rax;
  return (number == SYS_write || number == SYS_pwrite64) && regs->rdx > 1;
}

/* Called in the program, before it does anything else. Returns 0, or an errno. */
int follow_me(void) {
  struct sock_filter filter[NUMBER_OF_CALLS + 4];
  int n = 0;
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, nr));
  for (int i = 0; i < NUMBER_OF_CALLS; i++)
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i].number,
                                               NUMBER_OF_CALLS - i, 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  struct sock_fprog program = {n, filter};
  if (ptrace(PTRACE_TRACEME, 0, 0, 0)) return errno;
  raise(SIGSTOP); /* `follow` takes over here */
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return errno;
  return 0;
}

/* Follows a child that has called `follow_me`, to its end; returns its wait status, or -errno.

   folder: below which files count; a real path without a slash at its end
   action: what is done, see the list above
   at: the number of the operation at which it is done, from 1 on; from there on, if refused or slow
   kinds: which operations count: TAKES_SPACE, WAITS_FOR_DISK or both; 0: all
   error: the errno of a refused operation
   microseconds: how long an operation is held up
   log: a descriptor, for a line an operation: name, path, and `killed` or `refused` */
int follow(int program, const char *folder, int action, long at, int kinds, int error,
           long microseconds, int log) {
  int status;
  long count = 0;
  if (waitpid(program, &status, __WALL) < 0 || !WIFSTOPPED(status)) return -ECHILD;
  long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
                 PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACESYSGOOD;
  if (ptrace(PTRACE_SETOPTIONS, program, 0, options)) return -errno;
  ptrace(PTRACE_CONT, program, 0, 0);
  for (;;) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) {
      if (errno == EINTR) continue;
      return -errno;
    }
    if (!WIFSTOPPED(status)) {
      for (int i = 0; i < 1024; i++)
        if (PENDING[i].thread == thread) PENDING[i].thread = 0;
      if (thread == program) return status;
      continue;
    }
    int signum = WSTOPSIG(status), event = status >> 16;
    struct user_regs_struct regs;
    if (signum == (SIGTRAP | 0x80)) { /* a call that was waited for is done */
      struct pending *pending = pending_of(thread);
      if (pending->then_kill) {
        kill(program, SIGKILL);
        continue;
      }
      if (pending->refused && !ptrace(PTRACE_GETREGS, thread, 0, &regs)) {
        regs.rax = -pending->refused;
        ptrace(PTRACE_SETREGS, thread, 0, &regs);
      }
      pending->thread = 0;
      ptrace(PTRACE_CONT, thread, 0, 0);
      continue;
    }
    if (event != PTRACE_EVENT_SECCOMP) {
      /* A new thread begins with a SIGSTOP, and events come as SIGTRAP: neither is the program's. */
      int passed = event || signum == SIGSTOP || signum == SIGTRAP ? 0 : signum;
      ptrace(PTRACE_CONT, thread, 0, passed);
      continue;
    }
    char path[PATH_MAX] = "";
    const struct call *call = NULL;
    if (!ptrace(PTRACE_GETREGS, thread, 0, &regs)) call = call_of(thread, &regs, folder, path);
    if (!call || (kinds && !(call->kind & kinds))) {
      ptrace(PTRACE_CONT, thread, 0, 0);
      continue;
    }
    int is_it = ++count == at, is_past = count > at;
    int kills = is_it && (action == KILL_BEFORE || action == KILL_HALFWAY || action == KILL_AFTER);
    int refused = action == REFUSE && (is_past || (is_it && !writes_bytes(&regs)));
    dprintf(log, "%s\t%s\t%s\n", call->name, path, kills ? "killed" : refused ? "refused" : "");
    if (kills && action == KILL_BEFORE) {
      kill(program, SIGKILL);
      continue;
    }
    if (action == DELAY && count >= at) {
      struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
      nanosleep(&time, NULL);
    }
    if ((is_it && action == REFUSE && !refused) || (kills && action == KILL_HALFWAY)) {
      if (writes_bytes(&regs)) { /* the disk stores a part of it */
        regs.rdx /= 2;
        ptrace(PTRACE_SETREGS, thread, 0, &regs);
      }
    }
    if (refused) {
      regs.orig_rax = -1; /* no call of the kernel's */
      ptrace(PTRACE_SETREGS, thread, 0, &regs);
      pending_of(thread)->refused = error;
    }
    if (kills) pending_of(thread)->then_kill = 1;
    ptrace(refused || kills ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, 0);
  }
}
