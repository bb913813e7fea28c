/*
 * What both recording drivers share. They run nothing: every call is a line of JSON in $FAKE_LOG, and
 *   FAKE_FAIL=cuLibraryLoadData:209   makes a call fail with a code; several are separated by commas.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { MAX_PARAMETERS = 256 };
struct parameter { unsigned offset, size; };
struct kernel {
  char name[512];
  int count;
  struct parameter parameters[MAX_PARAMETERS];
};

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void record(const char *format, ...) {
  static FILE *log;
  const char *path = getenv("FAKE_LOG");
  va_list arguments;
  if (!path) return;
  pthread_mutex_lock(&log_lock);
  if (!log && !(log = fopen(path, "a"))) abort();
  va_start(arguments, format);
  vfprintf(log, format, arguments);
  va_end(arguments);
  fputc('\n', log);
  fflush(log);
  pthread_mutex_unlock(&log_lock);
}

static int failure(const char *name) {
  const char *at = getenv("FAKE_FAIL");
  size_t length = strlen(name);
  for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : "")
    if (!strncmp(at, name, length) && at[length] == ':') return atoi(at + length + 1);
  return 0;
}

/* The n-th of a comma-separated list. */
static int listed(const char *list, int n, char *into, size_t size) {
  for (; n > 0 && list; n--) list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
  if (!list) return 0;
  snprintf(into, size, "%.*s", (int)strcspn(list, ","), list);
  return 1;
}

static void launched(const char *call, const struct kernel *k, const unsigned grid[3], const unsigned block[3], unsigned cluster, unsigned shared, const void *stream, void **arguments) {
  size_t room = 65536, used = 0;
  if (!getenv("FAKE_LOG")) return;
  char *text = malloc(room);
  *text = 0;
  for (int i = 0; i < k->count; i++) {
    used += (size_t)snprintf(text + used, room - used, "%s{\"offset\":%u,\"hex\":\"", i ? "," : "", k->parameters[i].offset);
    for (unsigned b = 0; b < k->parameters[i].size; b++) used += (size_t)snprintf(text + used, room - used, "%02x", ((unsigned char *)arguments[i])[b]);
    used += (size_t)snprintf(text + used, room - used, "\"}");
  }
  record("{\"call\":\"%s\",\"name\":\"%s\",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"cluster\":%u,\"shared\":%u,\"stream\":%lu,\"args\":[%s]}", call, k->name,
         grid[0], grid[1], grid[2], block[0], block[1], block[2], cluster, shared, (unsigned long)(uintptr_t)stream, text);
  free(text);
}

static void *memory(size_t bytes) {
  void *at = NULL;
  if (posix_memalign(&at, 256, bytes ? bytes : 1)) abort();
  memset(at, 0, bytes);
  return at;
}
