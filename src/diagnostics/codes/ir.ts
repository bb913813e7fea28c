import { defineCode } from '../diagnostic.js';

/** The kernel IR: its text (TW00xx) and what the verifier holds (TW01xx). */
export const irCodes = {
  syntax: defineCode<{ expected: string; got: string }>(
    'TW0001',
    'error',
    'kernel IR text does not parse',
    'The `.kir` text breaks the grammar at the place shown. `docs/kernel-ir.md` describes the grammar; any `.kir` file that `tilewright build --emit kir` writes parses.',
    ({ expected, got }) => `expected ${expected}, got ${got}`,
  ),
  undefinedName: defineCode<{ what: string; name: string }>(
    'TW0002',
    'error',
    'a name in kernel IR text is not defined',
    'A value, dim, grid axis or op that the text names does not exist, or is defined in a region that is not around this place.',
    ({ what, name }) => `${what} ${name} is not defined here`,
  ),
  redefinedName: defineCode<{ what: string; name: string }>(
    'TW0003',
    'error',
    'a name in kernel IR text is defined twice',
    'Every value has one definition, and kernels, dims, params and grid axes have distinct names.',
    ({ what, name }) => `${what} ${name} is defined twice`,
  ),
  resultTypes: defineCode<{ op: string; expected: string; got: string }>(
    'TW0004',
    'error',
    'stated result types differ from what the op gives',
    'The types behind the colon must be those that the operands and attributes of the op determine.',
    ({ op, expected, got }) => `'${op}' gives ${expected}, but the text says ${got}`,
  ),
  invalidOp: defineCode<{ message: string }>(
    'TW0101',
    'error',
    'an op breaks the rules of the op table',
    'Operands, attributes, result types or regions of an op do not fit its definition (`docs/ops.md`). For IR that tilewright made from a kernel this is a bug in tilewright; for a `.kir` file it is a mistake in the file.',
    ({ message }) => message,
  ),
  notInScope: defineCode<{ op: string; type: string }>(
    'TW0102',
    'error',
    'an op uses a value that is not in scope',
    'A value may be used after its definition, in its own region and the regions inside it.',
    ({ op, type }) => `'${op}' uses a value of type ${type} that is not defined before it in a region around it`,
  ),
  raggedMismatch: defineCode<{ op: string }>(
    'TW0103',
    'error',
    'operands are valid up to different extents',
    'A tile that reaches past the edge of its array is valid up to a run-time extent. An elementwise op intersects the extents of its operands, so along each axis they must come from one computation (the same array extent and the same start), or all but one must be full. `pad(value)` makes a tile full.',
    ({ op }) => `operands of '${op}' are valid up to different extents along one axis`,
  ),
  raggedRefused: defineCode<{ message: string }>(
    'TW0104',
    'error',
    'an op cannot take a ragged tile',
    'The tile is valid only up to a run-time extent and the op would mix elements across that edge. `pad(value)` makes the tile full first.',
    ({ message }) => message,
  ),
  illegalOp: defineCode<{ op: string; stage: string }>(
    'TW0105',
    'error',
    'an op is not legal at this stage',
    'After legalisation only a subset of the ops may remain; the pass that should have replaced this one did not.',
    ({ op, stage }) => `'${op}' is not legal in ${stage}`,
  ),
  brokenByPass: defineCode<{ pass: string; message: string }>(
    'TW0106',
    'error',
    'a pass left invalid kernel IR',
    'The verifier runs after every pass and found a fault that was not there before. This is a bug in the pass.',
    ({ pass, message }) => `pass '${pass}' left invalid kernel IR: ${message}`,
  ),
  badPipeline: defineCode<{ message: string }>(
    'TW0107',
    'error',
    'a pass pipeline is not valid',
    'A pipeline is a list of passes, each with options in braces: `canonicalize{fold_limit=8},cse`. `tilewright opt --list` lists them.',
    ({ message }) => message,
  ),
} as const;
