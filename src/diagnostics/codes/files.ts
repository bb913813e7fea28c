import { defineCode } from '../diagnostic.js';

/** Files that are read and written (TW43xx). */
export const fileCodes = {
  cannotRead: defineCode<{ file: string; why: string }>(
    'TW4301',
    'error',
    'a file cannot be read',
    'The file does not exist or may not be read.',
    ({ file, why }) => `cannot read '${file}': ${why}`,
  ),
  cannotWrite: defineCode<{ file: string; why: string }>(
    'TW4302',
    'error',
    'a file cannot be written',
    'The folder does not exist, is read-only, or the disk is full. Nothing was left half-written.',
    ({ file, why }) => `cannot write '${file}': ${why}`,
  ),
  badNpy: defineCode<{ file: string; why: string }>(
    'TW4303',
    'error',
    'an .npy file that cannot be used',
    'Arrays are read from `.npy` files of versions 1 to 3 with a plain dtype; bf16 and fp8 lie in them as u16 and u8 bit patterns (`--input x=@x.npy:bf16`).',
    ({ file, why }) => `'${file}': ${why}`,
  ),
} as const;
