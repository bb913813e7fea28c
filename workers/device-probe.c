/*
 * Says which GPU the first device is: `device-probe cuda` prints sm_90, `device-probe hip` prints gfx942.
 * Without a driver or a device: why, on standard error, and exit 3.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void fail(const char *what, const char *detail) {
  fprintf(stderr, "%s%s%s\n", what, *detail ? ": " : "", detail);
  exit(3);
}

static void *function(const char *name) {
  void *at = dlsym(library, name);
  if (!at) fail("the driver's library lacks", name);
  return at;
}

static void check(const char *call, int error) {
  char text[32];
  snprintf(text, sizeof text, "error %d", error);
  if (error) fail(call, text);
}

static void open_library(const char *variable, const char *const *names, const char *missing) {
  const char *given = getenv(variable);
  if (given && *given) library = dlopen(given, RTLD_NOW);
  else
    for (; *names && !library; names++) library = dlopen(*names, RTLD_NOW);
  if (!library) fail(missing, dlerror());
}

int main(int argc, char **argv) {
  static const char *const cuda[] = { "libcuda.so.1", NULL }, *const hip[] = { "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so", NULL };
  int count = 0;
  if (argc == 2 && !strcmp(argv[1], "cuda")) {
    int device, major, minor;
    open_library("TILEWRIGHT_CUDA_LIB", cuda, "no NVIDIA driver was found");
    check("cuInit", ((int (*)(unsigned))function("cuInit"))(0));
    check("cuDeviceGetCount", ((int (*)(int *))function("cuDeviceGetCount"))(&count));
    if (count == 0) fail("there is no NVIDIA GPU", "");
    check("cuDeviceGet", ((int (*)(int *, int))function("cuDeviceGet"))(&device, 0));
    check("cuDeviceGetAttribute", ((int (*)(int *, int, int))function("cuDeviceGetAttribute"))(&major, 75, device));
    check("cuDeviceGetAttribute", ((int (*)(int *, int, int))function("cuDeviceGetAttribute"))(&minor, 76, device));
    printf("sm_%d%d\n", major, minor);
    return 0;
  }
  if (argc == 2 && !strcmp(argv[1], "hip")) {
    /* hipDeviceProp_tR0600 takes 1472 bytes and names the architecture at 1160. */
    static char properties[8192];
    open_library("TILEWRIGHT_HIP_LIB", hip, "no HIP runtime was found");
    check("hipInit", ((int (*)(unsigned))function("hipInit"))(0));
    check("hipGetDeviceCount", ((int (*)(int *))function("hipGetDeviceCount"))(&count));
    if (count == 0) fail("there is no AMD GPU", "");
    check("hipGetDeviceProperties", ((int (*)(void *, int))function("hipGetDevicePropertiesR0600"))(properties, 0));
    printf("%.*s\n", (int)strcspn(properties + 1160, ":"), properties + 1160);
    return 0;
  }
  fprintf(stderr, "usage: device-probe cuda|hip\n");
  return 2;
}
