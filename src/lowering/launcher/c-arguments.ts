/** The arguments of a launcher's C function, in the order of the call. */

import type { LaunchPlan, PlanParam } from '../launch-plan.js';
import { asDType, parameterNames, scalarType } from './c-text.js';

export type ArrayParam = Extract<PlanParam, { kind: 'array' }>;

/** One argument of the C function, in the order of the call. */
export interface CArgument {
  readonly kind: 'array' | 'scalar' | 'dim';
  readonly name: string;
  readonly cName: string;
  readonly type: string;
  /** What the header says about it. */
  readonly about: string;
}

const isGiven = (p: LaunchPlan['params'][number]): p is ArrayParam => p.kind === 'array' && p.role !== 'temp';

/** The signature: inputs, outputs, scalars, dims, each in declared order. Temporaries are made by the launcher. */
export function cArguments({ params, dims }: LaunchPlan): CArgument[] {
  const arrays = params.filter(isGiven);
  const ordered = [...arrays.filter((p) => p.role === 'in'), ...arrays.filter((p) => p.role !== 'in')];
  const scalars = params.filter((p) => p.kind === 'scalar');
  const names = parameterNames([...ordered, ...scalars, ...dims].map((p) => p.name));
  return [
    ...ordered.map((p) => {
      const role = p.role === 'in' ? 'input' : p.role === 'out' ? 'output' : 'input and output';
      const zeroed = p.zeroed ? ', zeroed first' : '';
      const alias =
        p.aliasOf === undefined || p.aliasOf === p.name ? '' : `, the array that the kernel calls ${p.aliasOf}`;
      return {
        kind: 'array' as const,
        name: p.name,
        type: p.role === 'in' ? 'const void *' : 'void *',
        about: `${role}: ${p.dtype}[${p.shape.join(', ')}]${alias}${zeroed}`,
      };
    }),
    ...scalars.map((p) => ({
      kind: 'scalar' as const,
      name: p.name,
      type: `${scalarType(asDType(p.dtype))} `,
      about: `scalar: ${p.dtype}${/^(?:bf|f)(?!32|64)/.test(p.dtype) ? ', its bits' : ''}`,
    })),
    ...dims.map((d) => ({ kind: 'dim' as const, name: d.name, type: 'int64_t ', about: dimPromises(d) })),
  ].map((argument, i) => ({ ...argument, cName: names[i]! }));
}

function dimPromises({ multipleOf = 1, min, max }: LaunchPlan['dims'][number]): string {
  const said = [
    ...(multipleOf > 1 ? [`a multiple of ${multipleOf}`] : []),
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
  ];
  return `size${said.length > 0 ? `: ${said.join(', ')}` : ''}`;
}
