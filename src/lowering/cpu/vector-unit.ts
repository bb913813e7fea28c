/** What code generation knows of a processor's vector registers and instructions. */
export interface VectorUnit {
  /** Bytes of one vector register. */
  readonly bytes: number;
  readonly registers: number;
  /** Whether there is an instruction for y * 2^k (`vscalefps`, AVX-512). */
  readonly scalef: boolean;
}
