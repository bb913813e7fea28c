/** Element types of tensor maps: Mosaic GPU's numbers, and those of CUDA's driver. */

/** CUtensorMapDataType by the code that Mosaic GPU calls `mosaic_gpu_init_tma_desc` with. */
const driverTypes: readonly (number | undefined)[] = [
  undefined, // u4
  0, // u8
  1, // u16
  2, // u32
  4, // u64
  6, // f16
  7, // f32
  9, // bf16
  undefined, // u2
  3, // s32
  5, // s64
];

/** The driver's number of an element type. Elements are copied as they are, so all of one width are alike. */
export function tensorMapView(code: number): number {
  return driverTypes[code] ?? 0;
}
