/** `plgpu.warpgroupProgram`: explicit warpgroups on a mesh. */

import { backendCodes } from '../diagnostics/codes/backend.js';
import { mistake } from './errors.js';
import { checkCallback, checkRecord } from './handle.js';
import { checkMesh, type Mesh } from './mesh.js';
import { checkProgramOptions, type Inputs, type Outputs, type Program, type ProgramOptions } from './program.js';
import type { ScratchSpec } from './scratch.js';

export interface WarpgroupProgramSpec<I, O> extends ProgramOptions {
  readonly mesh: Mesh;
  readonly inputs: I;
  readonly outputs: O;
  readonly scratch?: Readonly<Record<string, ScratchSpec>>;
}

/**
 * A program of explicit warpgroups. Its mesh and options are checked; its body cannot be traced yet.
 *
 * @throws CompileError TW2033, TW2035 for the mesh, and TW2041.
 */
export function warpgroupProgram<I extends Inputs, O extends Outputs>(
  spec: WarpgroupProgramSpec<I, O>,
  body: (handles: never) => void,
): Program<I, O> {
  checkRecord("'warpgroupProgram' takes a record: { mesh, inputs, outputs, scratch }", spec);
  checkCallback("'warpgroupProgram' takes a body", body);
  checkMesh(spec.mesh);
  const { compilerParams } = spec;
  checkProgramOptions(compilerParams === undefined ? {} : { compilerParams });
  return mistake((c) => backendCodes.explicitPending({}, c), {
    help: 'write it with blockProgram, which is compiled for every back end',
  });
}
