/** Launchers: one C header and source for a kernel, with the images of all its targets and everything that calls them. */

import { loweringCodes } from '../../diagnostics/codes/lowering.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import type { LaunchPlan } from '../launch-plan.js';
import { render } from '../render.js';
import { symbolFor } from '../symbol.js';
import { type CArgument, cArguments } from './c-arguments.js';
import { cComment, cFormat, cText } from './c-text.js';
import { apiOf, type LauncherApi, type LauncherVariant, VariantView } from './variant.js';

export type { LauncherVariant } from './variant.js';

export interface Launcher {
  /** The C function's name. */
  readonly symbol: string;
  readonly header: string;
  readonly source: string;
}

/** All targets of a launcher must be the same kernel: what differs would give one function two meanings. */
function checkAlike(plans: readonly LaunchPlan[]): void {
  const signature = (plan: LaunchPlan): string =>
    cArguments(plan)
      .map(({ kind, name, type, about }) => `${name} (${kind === 'dim' ? 'size' : `${type}${about}`})`)
      .join(', ');
  const [first, ...others] = plans;
  const other = others.find((plan) => signature(plan) !== signature(first!));
  if (other)
    throw new CompileError([
      loweringCodes.launcherDiffers({
        kernel: first!.kernel,
        first: `${first!.target}: ${signature(first!)}`,
        second: `${other.target}: ${signature(other)}`,
      }),
    ]);
}

const apiOrder: readonly LauncherApi[] = ['cuda', 'hip', 'cpu'];

/** Promises that hold for every target: what the header says. */
function sharedArguments(plans: readonly LaunchPlan[]): CArgument[] {
  const all = plans.map(cArguments);
  return all[0]!.map((argument, i) => {
    const said = plans.flatMap((plan, p) => {
      const { about } = all[p]![i]!;
      return about === 'size' || argument.kind !== 'dim' ? [] : [`${about.replace('size: ', '')} on ${plan.target}`];
    });
    return said.length > 0 ? { ...argument, about: `size: ${said.join('; ')}` } : argument;
  });
}

/**
 * The launcher of a kernel.
 *
 * @param variants one for each target, of one kernel.
 * @throws CompileError where the targets do not take the same arguments.
 */
export function renderLauncher(variants: readonly LauncherVariant[]): Launcher {
  const plans = variants.map((v) => v.plan);
  checkAlike(plans);
  const { kernel } = plans[0]!;
  const given = sharedArguments(plans);
  const symbol = symbolFor(kernel);
  const views = variants.map((v) => new VariantView(v, new Map(given.map((a) => [a.name, a.cName]))));
  const apis = apiOrder.filter((api) => views.some((v) => v.api === api));
  const launches = String(Math.max(1, ...plans.map((p) => p.launches.length)));
  const counts = { launches, variants: String(variants.length) };
  const text = cFormat(kernel);
  const shared = {
    symbol,
    comment: cComment(kernel),
    targets: plans.map((p) => p.target).join(', '),
    parameters: ['tw_stream stream', ...given.map((a) => `${a.type}${a.cName}`)].join(', '),
  };
  const width = Math.max(0, ...given.map((a) => a.cName.length));
  const documentation = given.map((a) => ` * ${a.cName.padEnd(width)}  ${cComment(a.about)}`).join('\n');
  const part = (api: LauncherApi): string =>
    apis.includes(api) ? render(`launcher/${api}.c`, { ...counts, text }) : '';
  const cpu = plans.find((p) => apiOf(p.target) === 'cpu');
  return {
    symbol,
    header: render('launcher/header.h', {
      ...shared,
      documentation: documentation || false,
      guard: `TILEWRIGHT_KERNEL_${symbol}_H`,
    }),
    source: render('launcher/source.c', {
      ...shared,
      launches,
      text,
      header: `${symbol}.h`,
      common: render('launcher/common.c', { ...counts, text }),
      fields: given.length > 0 ? given.map((a) => `${a.type}${a.cName};`) : ['char none;'],
      cpuSymbols: cpu ? cpu.launches.map((l) => `"${cText(l.symbol)}"`).join(', ') : false,
      cuda: part('cuda'),
      hip: part('hip'),
      cpu: part('cpu'),
      variants: views.map((v) => v.view()),
      count: counts.variants,
      apis: apis.map((api) => ({ api, device: `TW_DEVICE_${api.toUpperCase()}` })),
      order: apis.map((api) => `TW_DEVICE_${api.toUpperCase()}`).join(', '),
      allTargets: plans.map((p) => ` ${p.target}`).join(''),
      values: given.map((a) => a.cName).join(', ') || '0',
    }),
  };
}
