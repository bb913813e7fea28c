import { defineCode } from '../diagnostic.js';

/** Files that are read and written (TW43xx). */
export const fileCodes = {
  cannotRead: defineCode<{ file: string; why: string }>(
    'TW4301',
    'error',
    'a file cannot be read',
    'The file does not exist, is a folder, or may not be read.',
    ({ file, why }) => `cannot read '${file}': ${why}`,
  ),
  cannotWrite: defineCode<{ file: string; why: string }>(
    'TW4302',
    'error',
    'a file cannot be written',
    'The folder is missing or read-only, the disk is full, or a folder stands in its place. Files are written beside their place and renamed at the end, so what was there before is unchanged.',
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
