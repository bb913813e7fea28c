/*
 * Runs compiled CPU kernels in a process of their own: what crashes here is an answer there.
 *
 *   cpu-runner JOB      JOB is a text file, one directive a line:
 *     library PATH
 *     threads N
 *     repeat N                 how often all launches run; 0 reads `run N` lines from standard input
 *     buffer BYTES START PATH  a file that is mapped, shared; the next buffer is its bytes from START on
 *     launch SYMBOL PROGRAMS SCRATCH NPOINTERS BUFFER... NSCALARS HEX...
 *
 * Each launch is `void SYMBOL(void *const *pointers, const int64_t *scalars, void *scratch, int64_t lo, int64_t hi)`.
 * Kernels may print lines that begin with `(`, and `assert …` before they abort.
 * Prints `time NANOSECONDS` for each repetition (a line of them for each `run N`), or one line
 * `crash SIGNAL LAUNCH FIRST LAST` (the programs of the call that crashed) and exits with 70. Anything wrong with the job itself: a message on standard error, exit 64.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

typedef void (*entry_fn)(void *const *, const int64_t *, void *, int64_t, int64_t);

struct launch {
  char name[256];
  entry_fn entry;
  int64_t programs;
  size_t scratch;
  int pointers, scalars;
  void *pointer[256];
  int64_t scalar[512];
};

enum { MAX_BUFFERS = 256, MAX_LAUNCHES = 256 };

static void *buffers[MAX_BUFFERS];
static int buffer_count;
static struct launch *launches;
static int launch_count;
static int threads = 1;

static void **scratches;
static pthread_barrier_t gate;
static atomic_llong next_program;
static int64_t chunk;
static int current_launch;
static int stopping;

static __thread int64_t running_first = -1, running_last = -1;

static void die(const char *what, const char *detail) {
  fprintf(stderr, "cpu-runner: %s %s\n", what, detail);
  exit(64);
}

static void *allocate(size_t count, size_t size) {
  void *at = calloc(count, size);
  if (!at) die("out of memory", "");
  return at;
}

/* Memory of `bytes` bytes, of a file or (file < 0) all zero, between two pages that nobody may touch. */
static char *map_guarded(size_t bytes, int file, const char *what) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
  char *at = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) die("no address space for", what);
  at += page;
  int flags = MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE);
  if (whole && mmap(at, whole, PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED) die("cannot map", what);
  return at;
}

/* The last `bytes` bytes, in steps of 64, before the end of a page: an access beyond them is a crash. */
static void *map_scratch(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (bytes + 63) / 64 * 64, whole = (used + page - 1) / page * page;
  return map_guarded(used, -1, "scratch") + (whole - used);
}

/* Async-signal-safe: digits by hand, one write. */
static char *put_number(char *at, int64_t n) {
  char digits[24];
  int count = 0;
  if (n < 0) { *at++ = '-'; n = -n; }
  do digits[count++] = (char)('0' + n % 10); while ((n /= 10) > 0);
  while (count) *at++ = digits[--count];
  return at;
}

static void on_crash(int number) {
  char line[512], *at = line;
  const char *name = number == SIGSEGV ? "SIGSEGV" : number == SIGBUS ? "SIGBUS" : number == SIGFPE ? "SIGFPE" : number == SIGILL ? "SIGILL" : "SIGABRT";
  memcpy(at, "crash ", 6); at += 6;
  memcpy(at, name, strlen(name)); at += strlen(name);
  *at++ = ' ';
  at = put_number(at, current_launch);
  *at++ = ' ';
  at = put_number(at, running_first);
  *at++ = ' ';
  at = put_number(at, running_last);
  *at++ = '\n';
  if (write(STDOUT_FILENO, line, (size_t)(at - line)) < 0) _exit(71);
  _exit(70);
}

static void use_alternate_stack(void) {
  stack_t stack = {.ss_size = 64 * 1024};
  stack.ss_sp = allocate(1, stack.ss_size);
  sigaltstack(&stack, NULL);
}

static void watch_crashes(void) {
  struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
  int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
  use_alternate_stack();
}

/* Takes chunks of the current launch until none is left. */
static void work(int self) {
  struct launch *l = &launches[current_launch];
  for (;;) {
    int64_t lo = atomic_fetch_add(&next_program, chunk);
    if (lo >= l->programs) return;
    int64_t hi = lo + chunk < l->programs ? lo + chunk : l->programs;
    running_first = lo;
    running_last = hi - 1;
    l->entry(l->pointer, l->scalar, scratches[self], lo, hi);
  }
}

static void *helper(void *arg) {
  int self = (int)(intptr_t)arg;
  use_alternate_stack();
  for (;;) {
    pthread_barrier_wait(&gate);
    if (stopping) return NULL;
    work(self);
    pthread_barrier_wait(&gate);
  }
}

static void run_launch(int index) {
  current_launch = index;
  atomic_store(&next_program, 0);
  /* Small enough to balance, large enough that the counter is never contended. */
  chunk = launches[index].programs / (threads * 16);
  if (chunk < 1) chunk = 1;
  if (threads > 1) pthread_barrier_wait(&gate);
  work(0);
  if (threads > 1) pthread_barrier_wait(&gate);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t run_all(void) {
  int64_t start = now();
  for (int i = 0; i < launch_count; i++) run_launch(i);
  return now() - start;
}

static void read_job(const char *path, int *repeat) {
  FILE *job = fopen(path, "r");
  char word[64], text[4096];
  void *library = NULL;
  size_t scratch = 0;
  if (!job) die("cannot read", path);
  launches = allocate(MAX_LAUNCHES, sizeof *launches);
  while (fscanf(job, "%63s", word) == 1) {
    if (!strcmp(word, "library")) {
      if (fscanf(job, " %4095[^\n]", text) != 1) die("bad line", word);
      library = dlopen(text, RTLD_NOW | RTLD_LOCAL);
      if (!library) die("cannot load", dlerror());
    } else if (!strcmp(word, "threads")) {
      if (fscanf(job, "%d", &threads) != 1 || threads < 1) die("bad line", word);
    } else if (!strcmp(word, "repeat")) {
      if (fscanf(job, "%d", repeat) != 1) die("bad line", word);
    } else if (!strcmp(word, "buffer")) {
      size_t bytes, start;
      if (buffer_count == MAX_BUFFERS || fscanf(job, "%zu %zu %4095[^\n]", &bytes, &start, text) != 3) die("bad line", word);
      int file = open(text, O_RDWR);
      if (file < 0) die("cannot open", text);
      buffers[buffer_count++] = map_guarded(start + bytes, file, text) + start;
      close(file);
    } else if (!strcmp(word, "launch")) {
      if (launch_count == MAX_LAUNCHES) die("too many", word);
      struct launch *l = &launches[launch_count++];
      long long programs;
      if (fscanf(job, "%255s %lld %zu %d", l->name, &programs, &l->scratch, &l->pointers) != 4 || l->pointers > 256) die("bad line", word);
      l->programs = programs;
      for (int i = 0; i < l->pointers; i++) {
        int buffer;
        if (fscanf(job, "%d", &buffer) != 1 || buffer < 0 || buffer >= buffer_count) die("bad buffer in", l->name);
        l->pointer[i] = buffers[buffer];
      }
      if (fscanf(job, "%d", &l->scalars) != 1 || l->scalars > 512) die("bad line", word);
      for (int i = 0; i < l->scalars; i++) {
        unsigned long long bits;
        if (fscanf(job, "%llx", &bits) != 1) die("bad scalar in", l->name);
        l->scalar[i] = (int64_t)bits;
      }
      if (!library || !(l->entry = (entry_fn)dlsym(library, l->name))) die("no symbol", l->name);
      if (l->scratch > scratch) scratch = l->scratch;
    } else
      die("unknown directive", word);
  }
  fclose(job);
  scratches = allocate((size_t)threads, sizeof *scratches);
  for (int i = 0; i < threads; i++) scratches[i] = map_scratch(scratch);
}

static pthread_t *start_pool(void) {
  pthread_t *pool = allocate((size_t)threads, sizeof *pool);
  pthread_barrier_init(&gate, NULL, (unsigned)threads);
  for (int i = 1; i < threads; i++)
    if (pthread_create(&pool[i], NULL, helper, (void *)(intptr_t)i)) die("cannot start", "a thread");
  return pool;
}

static void end_pool(pthread_t *pool) {
  stopping = 1;
  pthread_barrier_wait(&gate);
  for (int i = 1; i < threads; i++) pthread_join(pool[i], NULL);
}

int main(int argc, char **argv) {
  int repeat = 1;
  pthread_t *pool = NULL;
  /* A kernel that never ends must not outlive whoever waits for it. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 2) die("usage:", "cpu-runner JOB");
  /* What kernels print must be there when one of them ends the run. */
  setvbuf(stdout, NULL, _IOLBF, 0);
  watch_crashes();
  read_job(argv[1], &repeat);
  if (threads > 1) pool = start_pool();
  for (int i = 0; i < repeat; i++) printf("time %lld\n", (long long)run_all());
  if (repeat == 0) {
    int count;
    while (scanf(" run %d", &count) == 1) {
      for (int i = 0; i < count; i++) printf(i ? " %lld" : "%lld", (long long)run_all());
      printf("\n");
      fflush(stdout);
    }
  }
  if (threads > 1) end_pool(pool);
  return 0;
}
