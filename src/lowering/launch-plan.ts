/** The launch plan: what a caller must know to call a compiled kernel. One JSON form for every back end. */

import type { Kernel } from '../ir/kernel.js';
import { printExtent } from '../ir/symbolic.js';
import type { DevicePlan } from './device-plan.js';

/** Expressions are text over dims and integer scalars: `cdiv(m, 64)`. */
export interface LaunchPlan {
  readonly version: 1;
  readonly kernel: string;
  readonly target: string;
  readonly dims: readonly {
    readonly name: string;
    readonly multipleOf?: number;
    readonly min?: number;
    readonly max?: number;
  }[];
  /** In the order of the call. */
  readonly params: readonly PlanParam[];
  readonly launches: readonly PlanLaunch[];
  readonly cost?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string>>;
}

export type PlanParam =
  | {
      readonly kind: 'array';
      readonly name: string;
      readonly role: 'in' | 'out' | 'inout' | 'temp';
      readonly dtype: string;
      readonly shape: readonly string[];
      readonly aliasOf?: string;
      readonly zeroed?: boolean;
    }
  | { readonly kind: 'scalar'; readonly name: string; readonly dtype: string };

export interface PlanLaunch {
  readonly symbol: string;
  /** Last axis fastest. */
  readonly grid: readonly { readonly axis: string; readonly extent: string }[];
  /** CPU: bytes of the scratch arena of each thread. */
  readonly scratchBytes: number;
  /** GPU: how the compiled function is called. */
  readonly device?: DevicePlan;
}

export function makeLaunchPlan(
  kernel: Kernel,
  target: string,
  symbols: readonly string[],
  scratchBytes: readonly number[],
  devices: readonly DevicePlan[] = [],
): LaunchPlan {
  const cost = Object.entries(kernel.cost ?? {}).map(([name, extent]) => [name, printExtent(extent)]);
  return {
    version: 1,
    kernel: kernel.name,
    target,
    dims: kernel.dims.map(({ loc: _, ...dim }) => dim),
    params: kernel.params.map((p): PlanParam => {
      const { dtype } = p.value.type;
      if (p.kind === 'scalar') return { kind: 'scalar', name: p.name, dtype: dtype.name };
      const { name, role, aliasOf, zeroed } = p;
      const shape = p.value.type.shape.map(printExtent);
      return {
        kind: 'array',
        name,
        role,
        dtype: dtype.name,
        shape,
        ...(aliasOf === undefined ? {} : { aliasOf }),
        ...(zeroed ? { zeroed } : {}),
      };
    }),
    launches: kernel.launches.map((launch, i) => ({
      symbol: symbols[i]!,
      grid: launch.grid.map(({ name, extent }) => ({ axis: name, extent: printExtent(extent) })),
      scratchBytes: scratchBytes[i] ?? 0,
      ...(devices[i] ? { device: devices[i] } : {}),
    })),
    ...(cost.length > 0 ? { cost: Object.fromEntries(cost) } : {}),
    ...(kernel.metadata ? { metadata: kernel.metadata } : {}),
  };
}

/** The plan's bytes in a file. */
export const formatLaunchPlan = (plan: LaunchPlan): string => `${JSON.stringify(plan, null, 2)}\n`;
