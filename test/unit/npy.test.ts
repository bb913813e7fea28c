import { describe, expect, test } from '@jest/globals';
import { bytesOf, type NdArray } from '../../src/api/nd-array.js';
import { formatNpy, parseNpy, writeNpy } from '../../src/api/npy.js';
import {
  bf16,
  bool,
  type DType,
  dtypes,
  f8e4m3fn,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
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

  test('big-endian', () => {
    const array = parseNpy(npy(header('>i4', '(2,)'), Uint8Array.of(0, 0, 1, 2, 255, 255, 255, 254)), 'x.npy');
    expect(Array.from(array.data as Int32Array)).toEqual([258, -2]);
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
  ])('%s is refused by name', async (_, bytes, why) => {
    expect(await refusal(bytes)).toBe(`'x.npy': ${why}`);
  });

  test('bit patterns are read only as what fits them', async () => {
    expect(await refusal(formatNpy(nd.zeros(f32, [1])), bf16)).toBe("'x.npy': it holds f32, not bf16");
    expect(await refusal(formatNpy(nd.zeros(u16, [1])), f16)).toBe("'x.npy': it holds u16, not f16");
    expect(parseNpy(formatNpy(nd.zeros(u16, [1])), 'x.npy', bf16).dtype).toBe(bf16);
    expect(parseNpy(formatNpy(nd.zeros(u8, [1])), 'x.npy', bool).dtype).toBe(bool);
  });

  test('a file that cannot be written leaves nothing', async () => {
    const [d] = await diagnosticsOf(() => writeNpy('/no/such/folder/x.npy', nd.zeros(f32, [1])));
    expect(d!.message).toBe("cannot write '/no/such/folder/x.npy': its folder does not exist");
  });
});

test('every dtype has a host array', () => {
  for (const d of Object.values(dtypes)) expect(nd.zeros(d, [3]).data.length).toBe(d.bits === 4 ? 2 : 3);
});
