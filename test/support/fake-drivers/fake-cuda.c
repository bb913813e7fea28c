/*
 * A recording libcuda.so.1. FAKE_SM=90,80 are its devices (default 90).
 * It compares the cubin's architecture with the device and reads the kernel's parameters from the cubin itself
 * (EIATTR_KPARAM_INFO in .nv.info.KERNEL), so that a wrong count, width or symbol shows.
 */
#include "fake.h"

static _Thread_local void *current; /* context: 0xC0 and the device */

static int devices(void) {
  char text[16];
  int n = 0;
  const char *list = getenv("FAKE_SM");
  if (!list) return 1;
  while (listed(list, n, text, sizeof text)) n++;
  return *list ? n : 0;
}
static int capability(int device) {
  char text[16];
  const char *list = getenv("FAKE_SM");
  return list && listed(list, device, text, sizeof text) ? atoi(text) : 90;
}
static int device_of(const void *context) { return (int)((uintptr_t)context - 0xC0); }

#define PLAIN(name, parameters, format, ...) \
  API int name parameters { \
    record("{\"call\":\"" #name "\"" format "}", ##__VA_ARGS__); \
    return failure(#name); \
  }

PLAIN(cuInit, (unsigned flags), ",\"flags\":%u", flags)
API int cuDeviceGetCount(int *n) { *n = devices(); return failure("cuDeviceGetCount"); }
API int cuDeviceGet(int *device, int i) { *device = i; return failure("cuDeviceGet"); }
API int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? capability(device) / 10 : attribute == 76 ? capability(device) % 10 : 0;
  return failure("cuDeviceGetAttribute");
}
API int cuDeviceGetName(char *name, int size, int device) { snprintf(name, (size_t)size, "Fake sm_%d", capability(device)); return 0; }
API int cuCtxGetCurrent(void **context) { record("{\"call\":\"cuCtxGetCurrent\"}"); *context = current; return failure("cuCtxGetCurrent"); }
API int cuCtxSetCurrent(void *context) {
  record("{\"call\":\"cuCtxSetCurrent\",\"device\":%d}", device_of(context));
  if (failure("cuCtxSetCurrent")) return failure("cuCtxSetCurrent");
  current = context;
  return 0;
}
API int cuCtxGetDevice(int *device) { *device = device_of(current); return current ? failure("cuCtxGetDevice") : 201; }
API int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)(uintptr_t)(0xC0 + device); return failure("cuDevicePrimaryCtxRetain"); }
API int cuGetErrorName(int error, const char **name) {
  static _Thread_local char text[32];
  snprintf(text, sizeof text, "FAKE_ERROR_%d", error);
  *name = text;
  return 0;
}

API int cuLibraryLoadData(void **library, const void *image, void *a, void *b, unsigned c, void *d, void *e, unsigned f) {
  const Elf64_Ehdr *elf = image;
  int is_elf = !memcmp(image, "\177ELF", 4) && elf->e_machine == 190;
  /* ELF ABI 8 (CUDA 13) has the architecture in the second byte, ABI 7 (CUDA 12) in the first. */
  unsigned arch = !is_elf ? 0 : elf->e_ident[8] >= 8 ? elf->e_flags >> 8 & 0xff : elf->e_flags & 0xff;
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  record("{\"call\":\"cuLibraryLoadData\",\"elf\":%d,\"arch\":%u}", is_elf, arch);
  if (failure("cuLibraryLoadData")) return failure("cuLibraryLoadData");
  int fits = 0;
  for (int i = 0; i < devices(); i++) fits |= (int)arch / 10 == capability(i) / 10 && (int)arch <= capability(i);
  if (!is_elf || !fits) return 209; /* CUDA_ERROR_NO_BINARY_FOR_GPU */
  *(const void **)library = image;
  return 0;
}
PLAIN(cuLibraryUnload, (void *library), "%s", library ? "" : ",\"null\":1")

/* EIATTR items: format, attribute, size or value, payload where the format is 4 */
static void read_parameters(const unsigned char *at, const unsigned char *end, struct kernel *k) {
  while (at + 4 <= end) {
    unsigned size = at[2] | (unsigned)at[3] << 8;
    if (at[0] != 4) {
      at += 4;
      continue;
    }
    if (at[1] == 0x17 && size >= 12) { /* KPARAM_INFO: ordinal, offset, size in the upper bits of a word */
      uint16_t ordinal, offset;
      uint32_t word;
      memcpy(&ordinal, at + 8, 2);
      memcpy(&offset, at + 10, 2);
      memcpy(&word, at + 12, 4);
      if (ordinal < MAX_PARAMETERS) {
        k->parameters[ordinal] = (struct parameter){ offset, word >> 18 };
        if (ordinal + 1 > k->count) k->count = ordinal + 1;
      }
    }
    at += 4 + size;
  }
}
API int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  const unsigned char *image = library;
  const Elf64_Ehdr *elf = library;
  const Elf64_Shdr *sections = (const void *)(image + elf->e_shoff);
  const char *strings = (const char *)image + sections[elf->e_shstrndx].sh_offset;
  char text[600], info[600];
  int found = 0;
  struct kernel *k = calloc(1, sizeof *k);
  if (failure("cuLibraryGetKernel")) return failure("cuLibraryGetKernel");
  snprintf(k->name, sizeof k->name, "%s", name);
  snprintf(text, sizeof text, ".text.%s", name);
  snprintf(info, sizeof info, ".nv.info.%s", name);
  for (int i = 0; i < elf->e_shnum; i++) {
    const unsigned char *at = image + sections[i].sh_offset;
    if (!strcmp(strings + sections[i].sh_name, text)) found = 1;
    if (!strcmp(strings + sections[i].sh_name, info)) read_parameters(at, at + sections[i].sh_size, k);
  }
  if (!found) return 500; /* CUDA_ERROR_NOT_FOUND */
  record("{\"call\":\"cuLibraryGetKernel\",\"name\":\"%s\",\"count\":%d}", name, k->count);
  *kernel = k;
  return 0;
}
API int cuKernelGetFunction(void **function, void *kernel) { *function = kernel; return current ? failure("cuKernelGetFunction") : 201; }
PLAIN(cuKernelSetAttribute, (int attribute, int value, void *kernel, int device), ",\"name\":\"%s\",\"attribute\":%d,\"value\":%d,\"device\":%d", ((struct kernel *)kernel)->name, attribute, value, device)

API int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments, void **extra) {
  (void)extra;
  if (!current) return 201;
  launched("cuLaunchKernel", kernel, (unsigned[]){ gx, gy, gz }, (unsigned[]){ bx, by, bz }, 1, shared, stream, arguments);
  return failure("cuLaunchKernel");
}
struct attribute { int id; char pad[4]; union { unsigned size[3]; int policy; char bytes[64]; } value; };
struct config { unsigned grid[3], block[3], shared; void *stream; struct attribute *attributes; unsigned count; };
API int cuLaunchKernelEx(const struct config *c, void *kernel, void **arguments, void **extra) {
  unsigned cluster = 1;
  (void)extra;
  if (!current) return 201;
  for (unsigned i = 0; i < c->count; i++)
    if (c->attributes[i].id == 4) cluster = c->attributes[i].value.size[0];
  launched("cuLaunchKernelEx", kernel, c->grid, c->block, cluster, c->shared, c->stream, arguments);
  return c->grid[0] % cluster ? 1 : failure("cuLaunchKernelEx");
}
/* The map is what was asked for, in 128 bytes: address, type, rank, sizes and boxes, swizzle. */
API int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes, const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
  char lists[3][256] = { "", "", "" };
  for (uint32_t i = 0; i < rank; i++) {
    snprintf(lists[0] + strlen(lists[0]), 64, "%s%lu", i ? "," : "", (unsigned long)sizes[i]);
    snprintf(lists[2] + strlen(lists[2]), 64, "%s%u", i ? "," : "", box[i]);
    if (i + 1 < rank) snprintf(lists[1] + strlen(lists[1]), 64, "%s%lu", i ? "," : "", (unsigned long)strides[i]);
    if (steps[i] != 1 || box[i] > 256) return 1;
    if (i + 1 < rank && strides[i] % 16) return 1;
  }
  record("{\"call\":\"cuTensorMapEncodeTiled\",\"type\":%d,\"address\":\"%lx\",\"sizes\":[%s],\"strides\":[%s],\"box\":[%s],\"swizzle\":%d,\"interleave\":%d,\"fill\":%d}", type,
         (unsigned long)(uintptr_t)address, lists[0], lists[1], lists[2], swizzle, interleave, fill);
  (void)promotion;
  if ((uintptr_t)map % 64 || (uintptr_t)address % 16) return 1;
  memset(map, 0, 128);
  memcpy(map, &address, 8);
  return failure("cuTensorMapEncodeTiled");
}

static int allocate(const char *call, void **at, size_t bytes) {
  if (failure(call)) return failure(call);
  *at = memory(bytes);
  record("{\"call\":\"%s\",\"bytes\":%zu,\"address\":\"%lx\"}", call, bytes, (unsigned long)(uintptr_t)*at);
  return 0;
}
API int cuMemAlloc_v2(void **at, size_t bytes) { return current ? allocate("cuMemAlloc", at, bytes) : 201; }
API int cuMemAllocAsync(void **at, size_t bytes, void *stream) { (void)stream; return current ? allocate("cuMemAllocAsync", at, bytes) : 201; }
API int cuMemFree_v2(void *at) { record("{\"call\":\"cuMemFree\",\"address\":\"%lx\"}", (unsigned long)(uintptr_t)at); free(at); return 0; }
API int cuMemFreeAsync(void *at, void *stream) { (void)stream; record("{\"call\":\"cuMemFreeAsync\",\"address\":\"%lx\"}", (unsigned long)(uintptr_t)at); free(at); return 0; }
API int cuMemsetD8Async(void *at, unsigned char value, size_t bytes, void *stream) {
  (void)stream;
  record("{\"call\":\"cuMemsetD8Async\",\"bytes\":%zu,\"value\":%d,\"address\":\"%lx\"}", bytes, value, (unsigned long)(uintptr_t)at);
  memset(at, value, bytes);
  return failure("cuMemsetD8Async");
}
API int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); return failure("cuMemcpyHtoD"); }
API int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); return failure("cuMemcpyDtoH"); }
PLAIN(cuCtxSynchronize, (void), "")
API int cuStreamCreate(void **stream, unsigned flags) { (void)flags; *stream = (void *)0x57; return failure("cuStreamCreate"); }
PLAIN(cuStreamSynchronize, (void *stream), ",\"stream\":%lu", (unsigned long)(uintptr_t)stream)
PLAIN(cuStreamDestroy_v2, (void *stream), ",\"stream\":%lu", (unsigned long)(uintptr_t)stream)
API int cuEventCreate(void **event, unsigned flags) { static uintptr_t n = 0xE0; (void)flags; *event = (void *)n++; return failure("cuEventCreate"); }
PLAIN(cuEventRecord, (void *event, void *stream), ",\"event\":%lu,\"stream\":%lu", (unsigned long)(uintptr_t)event, (unsigned long)(uintptr_t)stream)
API int cuEventSynchronize(void *event) { (void)event; return failure("cuEventSynchronize"); }
API int cuEventDestroy_v2(void *event) { (void)event; return 0; }
API int cuEventElapsedTime(float *milliseconds, void *a, void *b) { (void)a, (void)b; *milliseconds = 0.5f; return failure("cuEventElapsedTime"); }
