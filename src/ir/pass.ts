/** Passes and how they are run: every pass gets valid IR and leaves valid IR. */

import { irCodes } from '../diagnostics/codes/ir.js';
import { CompileError, InternalError } from '../diagnostics/diagnostic.js';
import { nearest } from '../diagnostics/nearest.js';
import type { Kernel } from './kernel.js';
import { verifyKernel } from './verifier.js';

/** Numbers that tune a pass, by name. */
export type PassOptions = Readonly<Record<string, number>>;

export interface Pass {
  readonly name: string;
  /** One line for `tilewright opt --list`. */
  readonly summary: string;
  /** All options that the pass has, at the values it runs with. */
  readonly options?: PassOptions;
  readonly run: (kernel: Kernel, options: PassOptions) => Kernel;
}

export interface PassHooks {
  /** Called after each pass. */
  readonly after?: (pass: string, before: Kernel, after: Kernel, milliseconds: number) => void;
}

/**
 * Runs passes in order. The kernel is verified before the first and after each.
 *
 * @throws CompileError where the given kernel is not valid or a pass refuses it; InternalError where a pass breaks it.
 */
export function runPasses(kernel: Kernel, passes: readonly Pass[], hooks: PassHooks = {}): Kernel {
  const faults = verifyKernel(kernel);
  if (faults.some((d) => d.severity === 'error')) throw new CompileError(faults);
  let current = kernel;
  for (const pass of passes) {
    const started = performance.now();
    const next = pass.run(current, pass.options ?? {});
    const milliseconds = performance.now() - started;
    if (next !== current) {
      const broken = verifyKernel(next);
      const [first] = broken;
      if (first) throw new InternalError(irCodes.brokenByPass({ pass: pass.name, message: first.message }).message);
    }
    hooks.after?.(pass.name, current, next, milliseconds);
    current = next;
  }
  return current;
}

const badPipeline = (message: string, help: string): CompileError =>
  new CompileError([irCodes.badPipeline({ message }, { help })]);

const suggestion = (near: string | undefined, otherwise: string): string =>
  near ? `did you mean '${near}'?` : otherwise;

/** `name` or `name{option=1,…}`, up to the next comma or the end. */
const item = /\s*([^\s,{}]*)\s*(?:\{([^{}]*)\}\s*)?(,|$)/y;

/**
 * Reads a pipeline: names of passes and pipelines separated by commas, a pass's options in braces:
 * `canonicalize{fold_limit=8},cse`.
 *
 * @throws CompileError TW0107: an unknown pass or option, a value that is no integer, braces that do not close.
 */
export function parsePipeline(text: string, registry: ReadonlyMap<string, readonly Pass[]>): readonly Pass[] {
  const passes: Pass[] = [];
  item.lastIndex = 0;
  while (item.lastIndex < text.length) {
    const at = item.lastIndex;
    const [, name, options] = item.exec(text) ?? [];
    if (name === undefined)
      throw badPipeline(`cannot read '${text.slice(at)}'`, 'a pipeline is written as `canonicalize{fold_limit=8},cse`');
    if (name === '' && options === undefined) continue;
    const found = registry.get(name);
    if (!found)
      throw badPipeline(
        `there is no pass '${name}'`,
        suggestion(nearest(name, [...registry.keys()]), '`tilewright opt --list` lists the passes'),
      );
    passes.push(...(options === undefined ? found : found.map((pass) => withOptions(pass, options))));
  }
  return passes;
}

function withOptions(pass: Pass, text: string): Pass {
  const known = Object.keys(pass.options ?? {});
  const options: Record<string, number> = { ...pass.options };
  for (const part of text.split(',').filter((p) => p.trim() !== '')) {
    const [name = '', value = '', ...rest] = part.split('=').map((x) => x.trim());
    if (!known.includes(name))
      throw badPipeline(
        `pass '${pass.name}' has no option '${name}'`,
        suggestion(nearest(name, known), known.length > 0 ? `it has: ${known.join(', ')}` : 'it has none'),
      );
    if (!/^\d+$/.test(value) || rest.length > 0)
      throw badPipeline(
        `option '${name}' of pass '${pass.name}' must be an integer, got '${[value, ...rest].join('=')}'`,
        `write it as \`${pass.name}{${name}=${options[name]}}\``,
      );
    options[name] = Number(value);
  }
  return { ...pass, options };
}
