import { lstatSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bytesOf, type NdArray } from '../../src/api/nd-array.js';
import { formatNpy, parseNpy, readNpy, writeNpy } from '../../src/api/npy.js';
import { CompileError } from '../../src/diagnostics/diagnostic.js';
import {
  bf16,
  bool,
  type DType,
  dtypes,
  f4e2m1fn,
  f8e4m3fn,
  f16,
  f32,
  f64,
  i4,
  i8,
  i16,
  i32,
  i64,
  u4,
  u8,
  u16,
  u32,
  u64,
} from '../../src/ir/dtypes.js';
import { nd } from '../../src/testing/index.js';
import { diagnosticsOf } from '../support/thrown.js';

/** The bytes of an .npy file with this header text. */
function npy(header: string, content: Uint8Array, version = 1): Uint8Array {
  const text = Buffer.from(`${header}\n`, version === 3 ? 'utf8' : 'latin1');
  const head = Buffer.alloc(version === 1 ? 10 : 12);
  head.write('\x93NUMPY', 'latin1');
  head[6] = version;
  if (version === 1) head.writeUInt16LE(text.length, 8);
  else head.writeUInt32LE(text.length, 8);
  return Buffer.concat([head, text, content]);
}

const header = (descr: string, shape: string, fortran = 'False'): string =>
  `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`;
const refusal = async (bytes: Uint8Array, as?: DType): Promise<string> =>
  (await diagnosticsOf(() => parseNpy(bytes, 'x.npy', as)))[0]!.message;

describe('.npy files', () => {
  test.each([bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bf16, f8e4m3fn] as readonly DType[])(
    '$name goes there and back',
    (d) => {
      const array = nd.random(d, [3, 4], { seed: 5 });
      const back = parseNpy(formatNpy(array), 'x.npy', d);
      expect({ dtype: back.dtype, shape: back.shape, bytes: [...bytesOf(back as NdArray)] }).toEqual({
        dtype: d,
        shape: [3, 4],
        bytes: [...bytesOf(array as NdArray)],
      });
    },
  );

  test.each([[[]], [[0]], [[1]], [[2, 0, 3]], [[1, 1, 1, 1, 1, 2]]])('shape %j', (shape) => {
    expect(parseNpy(formatNpy(nd.zeros(f32, shape)), 'x.npy').shape).toEqual(shape);
  });

  test('the header is as NumPy writes it, its data aligned to 64', () => {
    const bytes = Buffer.from(formatNpy(nd.zeros(f32, [5])));
    expect(bytes.toString('latin1', 10, 71)).toBe("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }    ");
    expect((bytes.length - 20) % 64).toBe(0);
  });

  test('Fortran order', () => {
    const content = bytesOf(nd.from(i32, [6], [1, 4, 2, 5, 3, 6]));
    const array = parseNpy(npy(header('<i4', '(2, 3)', 'True'), content), 'x.npy');
    expect(Array.from(array.data as Int32Array)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test.each([u8, f16, i32, f64, i64] as readonly DType[])('Fortran order of three axes of $name', (d) => {
    const c = nd.random(d, [2, 3, 4], { seed: 8 });
    const numbers = nd.toNumbers(c);
    const turned = Array.from({ length: 24 }, (_, to) => {
      const [i, j, k] = [to % 2, Math.floor(to / 2) % 3, Math.floor(to / 6)];
      return numbers[(i * 3 + j) * 4 + k]!;
    });
    const stored = Buffer.from(formatNpy(nd.from(d, [24], turned)));
    const text = stored.toString('latin1').replace('False', 'True ').replace('(24,), }      ', '(2, 3, 4), }  ');
    expect(bytesOf(parseNpy(Buffer.from(text, 'latin1'), 'x.npy'))).toEqual(bytesOf(c));
  });

  test('elements that are moved keep the bits of a NaN', () => {
    const signalling = Uint8Array.of(1, 0, 0, 0, 0, 0, 0xf0, 0x7f);
    const array = parseNpy(npy(header('<f8', '(1, 1)', 'True'), signalling), 'x.npy');
    expect(bytesOf(array)).toEqual(signalling);
  });

  test.each([
    ['>i2', [1, 2, 255, 254], [258, -2]],
    ['>i4', [0, 0, 1, 2, 255, 255, 255, 254], [258, -2]],
    ['>i8', [0, 0, 0, 0, 0, 0, 1, 2], [258]],
    ['>f2', [0x3c, 0, 0xc0, 0], [1, -2]],
    ['>f4', [0x3f, 0x80, 0, 0], [1]],
    ['>f8', [0xbf, 0xf0, 0, 0, 0, 0, 0, 0], [-1]],
    ['>u1', [7, 8], [7, 8]],
    ['=u2', [7, 0], [7]],
  ])('byte order of %s', (descr, content, numbers) => {
    const array = parseNpy(npy(header(descr, `(${numbers.length},)`), Uint8Array.from(content)), 'x.npy');
    expect([...nd.toNumbers(array)]).toEqual(numbers);
  });

  test('sizes as Python 2 wrote them', () => {
    expect(parseNpy(npy(header('|u1', '(1L, 2L)'), Uint8Array.of(1, 2)), 'x.npy').shape).toEqual([1, 2]);
  });

  test('any byte but 0 is true', () => {
    expect(parseNpy(npy(header('|b1', '(3,)'), Uint8Array.of(0, 1, 2)), 'x.npy').data).toEqual(Uint8Array.of(0, 1, 1));
  });

  test.each([
    { d: i4 as DType, numbers: [-8, 7, -1, 0, 3], descr: '|i1', bytes: [248, 7, 255, 0, 3] },
    { d: u4 as DType, numbers: [15, 0, 8, 1, 9], descr: '|u1', bytes: [15, 0, 8, 1, 9] },
    { d: f4e2m1fn as DType, numbers: [6, -0.5, 1.5, 0, 2], descr: '|u1', bytes: [7, 9, 3, 0, 4] },
  ])('$d.name lies one to a byte in a file, two to a byte in memory', ({ d, numbers, descr, bytes }) => {
    const array = nd.from(d, [5, 1], numbers);
    const file = Buffer.from(formatNpy(array));
    expect(file.toString('latin1')).toContain(`'${descr}', 'fortran_order': False, 'shape': (5, 1)`);
    expect([...file.subarray(-5)]).toEqual(bytes);
    const back = parseNpy(file, 'x.npy', d);
    expect(back).toEqual(array);
    expect(back.data.length).toBe(3);
  });

  test('what does not fit in 4 bits is refused', async () => {
    const seven = formatNpy(nd.from(i8, [3], [1, 7, 8]));
    expect(await refusal(seven, i4)).toBe("'x.npy': element 2 is 8, which is no i4");
    expect(await refusal(seven, u4)).toBe("'x.npy': it holds i8, not u4");
    expect(await refusal(formatNpy(nd.from(u8, [1], [16])), f4e2m1fn)).toBe(
      "'x.npy': element 0 is 16, which is no f4e2m1fn",
    );
  });

  test.each([
    ['<V2', 2, 'numpy.uint16'],
    ['|V1', 1, 'numpy.uint8'],
  ])('what ml_dtypes saves as %s is refused with the way to save its bits', async (descr, width, view) => {
    const [d] = await diagnosticsOf(() => parseNpy(npy(header(descr, '(1,)'), new Uint8Array(width)), 'x.npy'));
    expect(d!.message).toBe(`'x.npy': dtype '${descr}' is not supported`);
    expect(d!.help).toContain(view);
  });

  test('damaged bytes are refused or read, never a crash', () => {
    const whole = formatNpy(nd.random(f32, [4, 5], { seed: 1 }));
    const change = fc.tuple(fc.integer({ min: 0, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), fc.integer({ min: 0, max: whole.length }), (changes, length) => {
        const bytes = whole.slice(0, length);
        for (const [at, byte] of changes) if (at < length) bytes[at] = byte;
        try {
          const { shape, data } = parseNpy(bytes, 'x.npy');
          expect(data.length).toBe(shape.reduce((a, b) => a * b, 1));
        } catch (error) {
          expect(error).toBeInstanceOf(CompileError);
        }
      }),
      { numRuns: 3000, seed: 6 },
    );
  });

  test.each([1, 2, 3])('version %i', (version) => {
    expect(parseNpy(npy(header('|u1', '(3,)'), Uint8Array.of(1, 2, 3), version), 'x.npy').shape).toEqual([3]);
  });

  test.each([
    ['no magic', Buffer.from('PK\x03\x04........'), 'it is not an .npy file'],
    ['empty', new Uint8Array(), 'it is not an .npy file'],
    ['version 4', npy(header('|u1', '(1,)'), Uint8Array.of(1), 4), 'format version 4 is not known; 1, 2 and 3 are'],
    [
      'a structured dtype',
      npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", new Uint8Array(4)),
      'structured dtypes are not supported',
    ],
    ['a complex dtype', npy(header('<c8', '(1,)'), new Uint8Array(8)), "dtype '<c8' is not supported"],
    ['an object dtype', npy(header('|O', '(1,)'), new Uint8Array(8)), "dtype '|O' is not supported"],
    [
      'a dtype named like a property',
      npy(header('<toString', '(1,)'), new Uint8Array(8)),
      "dtype '<toString' is not supported",
    ],
    ['a negative size', npy(header('<f4', '(-1,)'), new Uint8Array(4)), 'its shape (-1,) is not a list of sizes'],
    [
      'a huge shape',
      npy(header('<f8', '(3000000000, 3000000000)'), new Uint8Array(4)),
      'its shape (3000000000, 3000000000) is too large',
    ],
    [
      'seven axes',
      npy(header('<f4', '(1, 1, 1, 1, 1, 1, 1)'), new Uint8Array(4)),
      'it has 7 axes; at most 6 are supported',
    ],
    [
      'too little data',
      npy(header('<f4', '(2,)'), new Uint8Array(7)),
      'truncated: 8 bytes of data are announced, 7 are there',
    ],
    ['too much data', npy(header('<f4', '(2,)'), new Uint8Array(9)), '1 bytes follow the data'],
    ['a damaged header', npy("{'descr': '<f4'", new Uint8Array(4)), 'its header is damaged'],
    [
      'a size with a fraction',
      npy(header('<f4', '(1.0,)'), new Uint8Array(4)),
      'its shape (1.0,) is not a list of sizes',
    ],
    ['a size in hex', npy(header('<f4', '(0x1,)'), new Uint8Array(4)), 'its shape (0x1,) is not a list of sizes'],
    [
      'a size beyond 2^53',
      npy(header('<f4', '(0, 99999999999999999999)'), new Uint8Array()),
      'its shape (0, 99999999999999999999) is not a list of sizes',
    ],
    [
      'a huge header',
      npy(`{'descr': '<f4'${' '.repeat(70000)}`, new Uint8Array(4), 2),
      'its header takes 70016 bytes; that of a plain array fits in 65536',
    ],
    [
      'a version 2 that ends before its length',
      Buffer.from('\x93NUMPY\x02\x00\x10\x00', 'latin1'),
      'truncated in its header',
    ],
    [
      'a header that announces more than there is',
      Buffer.from('\x93NUMPY\x01\x00\x76\x00{', 'latin1'),
      'truncated in its header: 118 bytes are announced, 1 are there',
    ],
  ])('%s is refused by name', async (_, bytes, why) => {
    expect(await refusal(bytes)).toBe(`'x.npy': ${why}`);
  });

  test('bit patterns are read only as what fits them', async () => {
    expect(await refusal(formatNpy(nd.zeros(u8, [1])), bf16)).toBe("'x.npy': it holds u8, not bf16");
    expect(await refusal(formatNpy(nd.zeros(f32, [1])), bf16)).toBe("'x.npy': it holds f32, not bf16");
    expect(await refusal(formatNpy(nd.zeros(u16, [1])), f16)).toBe("'x.npy': it holds u16, not f16");
    expect(parseNpy(formatNpy(nd.zeros(u16, [1])), 'x.npy', bf16).dtype).toBe(bf16);
    expect(parseNpy(formatNpy(nd.zeros(u8, [1])), 'x.npy', bool).dtype).toBe(bool);
  });

  describe('on disk', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'tilewright-npy-'));
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    test('an array goes there and back, and nothing else is left', async () => {
      const array = nd.random(f32, [2, 3], { seed: 1 });
      await writeNpy(join(folder, 'x.npy'), array);
      expect(await readNpy(join(folder, 'x.npy'))).toEqual(array);
      expect(readdirSync(folder)).toEqual(['x.npy']);
    });

    test('a link stays a link', async () => {
      await writeNpy(join(folder, 'real.npy'), nd.zeros(f32, [1]));
      symlinkSync(join(folder, 'real.npy'), join(folder, 'link.npy'));
      await writeNpy(join(folder, 'link.npy'), nd.zeros(f32, [2]));
      expect(lstatSync(join(folder, 'link.npy')).isSymbolicLink()).toBe(true);
      expect((await readNpy(join(folder, 'real.npy'))).shape).toEqual([2]);
    });

    test.each([
      ['no/x.npy', 'TW4301', 'no such file'],
      ['.', 'TW4301', 'it is a folder'],
    ])('reading %s', async (name, code, why) => {
      const path = join(folder, name);
      const [d] = await diagnosticsOf(() => readNpy(path));
      expect([d!.code, d!.message]).toEqual([code, `cannot read '${path}': ${why}`]);
    });

    test.each([
      ['no/x.npy', 'its folder does not exist'],
      ['.', 'it is a folder'],
    ])('writing %s fails and leaves nothing', async (name, why) => {
      const path = join(folder, name);
      const [d] = await diagnosticsOf(() => writeNpy(path, nd.zeros(f32, [1])));
      expect([d!.code, d!.message]).toEqual(['TW4302', `cannot write '${path}': ${why}`]);
      expect(readdirSync(folder)).toEqual([]);
    });
  });
});

test('every dtype has a host array', () => {
  for (const d of Object.values(dtypes)) expect(nd.zeros(d, [3]).data.length).toBe(d.bits === 4 ? 2 : 3);
});
