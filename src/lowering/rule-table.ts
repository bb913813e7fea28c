import { loweringCodes } from '../diagnostics/codes/lowering.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import type { OpName, OpOf } from '../ir/ops/index.js';
import { type WarpgroupOpName, warpgroupOpNames } from '../ir/ops/warpgroup.js';

/** How a back end lowers each op. A table that does not mention an op of the IR is a type error. */
export type RuleTable<Context> = { readonly [N in OpName]: (context: Context, op: OpOf<N>) => void };

/** Thrown by a rule for what its back end cannot do; caught where the op's location is known. */
export class Unsupported extends Error {}

/** A decision, with its reason: this back end does not do that. */
export function unsupportedOp(what: string): never {
  throw new Unsupported(what);
}

/** Runs `lower`, giving what is unsupported the place of the op that was being lowered. */
export function withOpLocation<T>(loc: () => Loc, target: string, lower: () => T): T {
  try {
    return lower();
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    throw new CompileError([loweringCodes.unsupported({ what: error.message, target }, { loc: loc() })]);
  }
}

/** The rules of a back end that has no explicit programs. */
export function noWarpgroups<Context>(backend: string): Pick<RuleTable<Context>, WarpgroupOpName> {
  const refuse = (): never =>
    unsupportedOp(
      `an explicit program (plgpu.warpgroupProgram) with ${backend}: it is for Mosaic GPU and the interpreter`,
    );
  return Object.fromEntries([...warpgroupOpNames].map((name) => [name, refuse])) as never;
}
