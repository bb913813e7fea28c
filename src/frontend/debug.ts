/** What a kernel says of itself while it runs: prints, checks and promises. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Bool } from '../ir/dtypes.js';
import { formatPieces } from '../ir/ops/debug.js';
import { mistake } from './errors.js';
import { refuse } from './handle.js';
import type { Rank } from './rank.js';
import {
  type AnyTile,
  asTile,
  broadcastShape,
  broadcastTile,
  type Index,
  type Scalar,
  type Tile,
  traced,
  useTile,
} from './tile.js';
import { needTrace } from './trace.js';

/**
 * Writes a line for each element of the values, which broadcast to one shape: `{}` in `format` stands for each value in
 * turn; without any, they follow the text. A line begins with the program and the place of the element:
 * `(i=0)[2, 3] x = 1.5`. Prints stay in compiled kernels.
 */
export function debugPrint(format: string, ...values: readonly AnyTile[]): void {
  const trace = needTrace("'debugPrint'");
  if (typeof format !== 'string') refuse("'debugPrint' takes a text", format);
  const tiles = values.map((v) => asTile("'debugPrint' takes tiles to print", v));
  const places = formatPieces(format).length - 1;
  if (places !== 0 && places !== tiles.length)
    mistake((c) =>
      frontendCodes.badOperand(
        { message: `the text of 'debugPrint' has ${places} places for ${tiles.length} values` },
        c,
      ),
    );
  const text = places === 0 ? [format, ...tiles.map(() => '{}')].join(' ') : format;
  const shape = tiles.reduce<readonly number[]>((s, t) => broadcastShape('debugPrint', s, t.type.shape), []);
  trace.emit('debug_print', { values: tiles.map((t) => useTile(broadcastTile(t, shape))) }, { format: text });
}

const asCondition = (what: string, condition: unknown): AnyTile => {
  if (typeof condition === 'boolean') refuse(`'${what}' takes a condition that the kernel computes`, condition);
  return asTile(`'${what}' takes a tile of bool`, condition);
};

/** Ends the run with a diagnostic at this line unless the condition holds, for every element. Compiled kernels check too. */
export function assertTrue<R extends Rank>(condition: Tile<Bool, R>, message: string): void {
  const trace = needTrace("'assertTrue'");
  if (typeof message !== 'string') refuse("'assertTrue' takes a message", message);
  trace.emit('assert', { condition: useTile(asCondition('assertTrue', condition)) }, { message });
}

/**
 * Promises that a condition holds; bounds of i32 scalars (`n.lt(100)`) are taken from it. Interpreted kernels check,
 * compiled ones rely on it.
 */
export function assume(condition: Scalar<Bool>): void {
  const trace = needTrace("'assume'");
  trace.emit('assume', { condition: useTile(asCondition('assume', condition)) }, {});
}

/** The same i32 scalar, with the promise that it is a multiple of `n`, which spares masks. */
export function multipleOf(x: Index, n: number): Index {
  const trace = needTrace("'multipleOf'");
  if (!Number.isInteger(n) || n < 1) refuse("'multipleOf' takes an integer from 1 up", n);
  return traced(
    trace.emit('multiple_of', { input: useTile(asTile("'multipleOf' takes an i32 scalar", x)) }, { multiple: n })[0]!,
  );
}
