/*
 * A recording libamdhip64. FAKE_GFX=gfx942,gfx1100 are its devices (default gfx942); FAKE_HIP_5=1 lacks the properties of HIP 6.
 * It compares the code object's machine with the device and reads the kernel's arguments from the object's own metadata
 * (NT_AMDGPU_METADATA, MessagePack), so that a wrong count, width or symbol shows.
 */
#include "fake.h"

static _Thread_local int current;

static int devices(void) {
  char text[32];
  int n = 0;
  const char *list = getenv("FAKE_GFX");
  if (!list) return 1;
  while (listed(list, n, text, sizeof text)) n++;
  return *list ? n : 0;
}
static void architecture(int device, char *into, size_t size) {
  const char *list = getenv("FAKE_GFX");
  if (!list || !listed(list, device, into, size)) snprintf(into, size, "gfx942");
}
/* EF_AMDGPU_MACH */
static unsigned machine(const char *name) {
  static const struct { const char *name; unsigned machine; } known[] = { { "gfx90a", 0x3f }, { "gfx942", 0x4c }, { "gfx950", 0x4f }, { "gfx1100", 0x41 }, { "gfx1201", 0x4e } };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i].name, name)) return known[i].machine;
  return 0;
}

API int hipInit(unsigned flags) {
  record("{\"call\":\"hipInit\",\"flags\":%u}", flags);
  return failure("hipInit");
}
API int hipGetDeviceCount(int *n) { *n = devices(); return failure("hipGetDeviceCount") ? failure("hipGetDeviceCount") : *n ? 0 : 100; }
API int hipGetDevice(int *device) { *device = current; return failure("hipGetDevice"); }
API int hipDeviceGet(int *device, int i) { *device = i; return 0; }
API int hipDeviceGetName(char *name, int size, int device) {
  char text[32];
  architecture(device, text, sizeof text);
  snprintf(name, (size_t)size, "Fake %s", text);
  return 0;
}
API int hipSetDevice(int device) { current = device; return failure("hipSetDevice"); }
API const char *hipGetErrorName(int error) {
  static _Thread_local char text[32];
  snprintf(text, sizeof text, "FAKE_ERROR_%d", error);
  return text;
}
/* hipDeviceProp_tR0600: gcnArchName[256] at 1160 */
API int hipGetDevicePropertiesR0600(void *properties, int device) {
  char name[32];
  if (getenv("FAKE_HIP_5") || failure("hipGetDevicePropertiesR0600")) return 1;
  architecture(device, name, sizeof name);
  snprintf((char *)properties + 1160, 256, "%s:sramecc+:xnack-", name);
  return 0;
}
API int hipModuleLoadData(void **module, const void *image) {
  const Elf64_Ehdr *elf = image;
  int is_elf = !memcmp(image, "\177ELF", 4) && elf->e_machine == 224;
  unsigned is = is_elf ? elf->e_flags & 0xff : 0;
  char name[32];
  architecture(current, name, sizeof name);
  record("{\"call\":\"hipModuleLoadData\",\"elf\":%d,\"machine\":%u}", is_elf, is);
  if (failure("hipModuleLoadData")) return failure("hipModuleLoadData");
  if (!is_elf || is != machine(name)) return 209; /* hipErrorNoBinaryForGpu */
  *(const void **)module = image;
  return 0;
}
API int hipModuleUnload(void *module) { record("{\"call\":\"hipModuleUnload\",\"null\":%d}", !module); return failure("hipModuleUnload"); }

/* the few forms of MessagePack that code objects use */
struct reader { const unsigned char *at, *end; };
enum { MAP, ARRAY, STRING, INTEGER, OTHER };
static uint64_t big_endian(struct reader *r, int bytes) {
  uint64_t value = 0;
  while (bytes--) value = value << 8 | (r->at < r->end ? *r->at++ : 0);
  return value;
}
static int next(struct reader *r, uint64_t *value, const char **text) {
  unsigned c = r->at < r->end ? *r->at++ : 0xc0;
  int kind = OTHER;
  *value = 0;
  *text = "";
  if (c < 0x80) { *value = c; kind = INTEGER; }
  else if (c < 0x90) { *value = c & 15; kind = MAP; }
  else if (c < 0xa0) { *value = c & 15; kind = ARRAY; }
  else if (c < 0xc0) { *value = c & 31; kind = STRING; }
  else if (c >= 0xd9 && c <= 0xdb) { *value = big_endian(r, 1 << (c - 0xd9)); kind = STRING; }
  else if (c >= 0xcc && c <= 0xcf) { *value = big_endian(r, 1 << (c - 0xcc)); kind = INTEGER; }
  else if (c >= 0xd0 && c <= 0xd3) { *value = big_endian(r, 1 << (c - 0xd0)); kind = INTEGER; }
  else if (c == 0xdc || c == 0xdd) { *value = big_endian(r, c == 0xdc ? 2 : 4); kind = ARRAY; }
  else if (c == 0xde || c == 0xdf) { *value = big_endian(r, c == 0xde ? 2 : 4); kind = MAP; }
  if (kind == STRING) { *text = (const char *)r->at; r->at += *value; }
  return kind;
}
static void skip(struct reader *r) {
  uint64_t n;
  const char *text;
  int kind = next(r, &n, &text);
  if (kind == MAP) n *= 2;
  if (kind == MAP || kind == ARRAY)
    while (n--) skip(r);
}
static uint64_t length(struct reader *r) {
  uint64_t n;
  const char *text;
  next(r, &n, &text);
  return n;
}
static int is(const struct reader *at, const char *wanted) {
  struct reader r = *at;
  uint64_t n;
  const char *text;
  return next(&r, &n, &text) == STRING && n == strlen(wanted) && !memcmp(text, wanted, n);
}
static void read_argument(struct reader *r, struct kernel *k) {
  struct parameter p = { 0, 0 };
  int hidden = 0;
  uint64_t value;
  const char *text;
  for (uint64_t fields = length(r); fields > 0; fields--) {
    if (is(r, ".offset")) { skip(r); next(r, &value, &text); p.offset = (unsigned)value; }
    else if (is(r, ".size")) { skip(r); next(r, &value, &text); p.size = (unsigned)value; }
    else if (is(r, ".value_kind")) { skip(r); next(r, &value, &text); hidden = value > 7 && !memcmp(text, "hidden_", 7); }
    else { skip(r); skip(r); }
  }
  if (!hidden && k->count < MAX_PARAMETERS) k->parameters[k->count++] = p;
}
/* One map of amdhsa.kernels; whether it is the wanted one. */
static int read_kernel(struct reader *r, struct kernel *k) {
  int found = 0;
  k->count = 0;
  for (uint64_t fields = length(r); fields > 0; fields--) {
    if (is(r, ".name")) { skip(r); found = is(r, k->name); skip(r); }
    else if (is(r, ".args")) {
      skip(r);
      for (uint64_t n = length(r); n > 0; n--) read_argument(r, k);
    } else { skip(r); skip(r); }
  }
  return found;
}
API int hipModuleGetFunction(void **function, void *module, const char *name) {
  const unsigned char *image = module;
  const Elf64_Ehdr *elf = module;
  const Elf64_Phdr *headers = (const void *)(image + elf->e_phoff);
  struct kernel *k = calloc(1, sizeof *k);
  int found = 0;
  if (failure("hipModuleGetFunction")) return failure("hipModuleGetFunction");
  snprintf(k->name, sizeof k->name, "%s", name);
  for (int i = 0; i < elf->e_phnum && !found; i++) {
    if (headers[i].p_type != PT_NOTE) continue;
    const unsigned char *at = image + headers[i].p_offset, *end = at + headers[i].p_filesz;
    while (at + 12 <= end && !found) {
      uint32_t note[3];
      memcpy(note, at, 12);
      const unsigned char *content = at + 12 + ((note[0] + 3) & ~3u);
      at = content + ((note[1] + 3) & ~3u);
      if (note[2] != 32) continue; /* NT_AMDGPU_METADATA */
      struct reader r = { content, content + note[1] };
      for (uint64_t fields = length(&r); fields > 0; fields--) {
        if (!is(&r, "amdhsa.kernels")) { skip(&r); skip(&r); continue; }
        skip(&r);
        for (uint64_t n = length(&r); n > 0; n--) {
          if (found) skip(&r);
          else found = read_kernel(&r, k);
        }
      }
    }
  }
  if (!found) return 500; /* hipErrorNotFound */
  record("{\"call\":\"hipModuleGetFunction\",\"name\":\"%s\",\"count\":%d}", name, k->count);
  *function = k;
  return 0;
}
API int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments, void **extra) {
  (void)extra;
  launched("hipModuleLaunchKernel", function, (unsigned[]){ gx, gy, gz }, (unsigned[]){ bx, by, bz }, 1, shared, stream, arguments);
  return failure("hipModuleLaunchKernel");
}

static int allocate(const char *call, void **at, size_t bytes) {
  if (failure(call)) return failure(call);
  *at = memory(bytes);
  record("{\"call\":\"%s\",\"bytes\":%zu,\"address\":\"%lx\"}", call, bytes, (unsigned long)(uintptr_t)*at);
  return 0;
}
API int hipMalloc(void **at, size_t bytes) { return allocate("hipMalloc", at, bytes); }
API int hipMallocAsync(void **at, size_t bytes, void *stream) { (void)stream; return allocate("hipMallocAsync", at, bytes); }
API int hipFree(void *at) { record("{\"call\":\"hipFree\",\"address\":\"%lx\"}", (unsigned long)(uintptr_t)at); free(at); return 0; }
API int hipFreeAsync(void *at, void *stream) { (void)stream; record("{\"call\":\"hipFreeAsync\",\"address\":\"%lx\"}", (unsigned long)(uintptr_t)at); free(at); return 0; }
API int hipMemsetAsync(void *at, int value, size_t bytes, void *stream) {
  (void)stream;
  record("{\"call\":\"hipMemsetAsync\",\"bytes\":%zu,\"value\":%d,\"address\":\"%lx\"}", bytes, value, (unsigned long)(uintptr_t)at);
  memset(at, value, bytes);
  return failure("hipMemsetAsync");
}
API int hipMemcpy(void *to, const void *from, size_t bytes, int kind) { (void)kind; memcpy(to, from, bytes); return failure("hipMemcpy"); }
API int hipDeviceSynchronize(void) { record("{\"call\":\"hipDeviceSynchronize\"}"); return failure("hipDeviceSynchronize"); }
API int hipStreamCreate(void **stream) { *stream = (void *)0x57; return failure("hipStreamCreate"); }
API int hipStreamSynchronize(void *stream) { record("{\"call\":\"hipStreamSynchronize\",\"stream\":%lu}", (unsigned long)(uintptr_t)stream); return failure("hipStreamSynchronize"); }
API int hipStreamDestroy(void *stream) { (void)stream; return 0; }
API int hipEventCreate(void **event) { static uintptr_t n = 0xE0; *event = (void *)n++; return failure("hipEventCreate"); }
API int hipEventRecord(void *event, void *stream) { record("{\"call\":\"hipEventRecord\",\"event\":%lu,\"stream\":%lu}", (unsigned long)(uintptr_t)event, (unsigned long)(uintptr_t)stream); return failure("hipEventRecord"); }
API int hipEventSynchronize(void *event) { (void)event; return failure("hipEventSynchronize"); }
API int hipEventDestroy(void *event) { (void)event; return 0; }
API int hipEventElapsedTime(float *milliseconds, void *a, void *b) { (void)a, (void)b; *milliseconds = 0.5f; return failure("hipEventElapsedTime"); }
