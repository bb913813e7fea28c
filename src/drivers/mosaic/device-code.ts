/** From the lowered module to PTX by stock MLIR and LLVM: the command lines, and what has no pass. */

import { invariant } from '../../diagnostics/diagnostic.js';
import type { NvidiaTarget } from '../../lowering/gpu-target.js';
import type { ToolStage } from '../stages.js';
import type { ToolName } from '../tool.js';

const triple = 'nvptx64-nvidia-cuda';

/** The PTX version that each architecture's instructions came with. */
const ptxFeature = ({ capability }: NvidiaTarget): string => (capability >= 100 ? 'ptx86' : 'ptx84');

/** Passes up to a kernel of llvm and nvvm, with vectors and casts left. The order is measured: see ADR 0004. */
const outline = (target: NvidiaTarget): string => {
  const device = [
    'convert-vector-to-scf{target-rank=1}',
    'expand-strided-metadata',
    'lower-affine',
    'arith-expand',
    'convert-scf-to-cf',
    // Before convert-gpu-to-nvvm: after it, wgmma takes a fifth more instructions.
    'convert-nvvm-to-llvm',
    'canonicalize',
    'cse',
    'convert-gpu-to-nvvm{index-bitwidth=64}',
    'convert-arith-to-llvm{index-bitwidth=64}',
    'convert-index-to-llvm{index-bitwidth=64}',
    'canonicalize',
    'cse',
  ];
  return [
    'gpu-kernel-outlining{data-layout-str=}',
    `nvvm-attach-target{O=3 chip=${target.name} features=+${ptxFeature(target)} triple=${triple}}`,
    `gpu.module(${device.join(',')})`,
  ].join(',');
};

const finish =
  'gpu.module(reconcile-unrealized-casts,convert-math-to-llvm,convert-vector-to-llvm,reconcile-unrealized-casts,canonicalize,cse)';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

/** Barriers that are left in types are cells of 8 bytes to stock MLIR. */
export const withoutDialect = (module: Uint8Array): Uint8Array =>
  bytes(text(module).replace(/!mosaic_gpu\.barrier(?:<[^>]*>)?/g, 'i64'));

/** Tensor maps by value, bounds of the launch, and dynamic shared memory as an external symbol. */
function withKernelAttributes(module: Uint8Array): Uint8Array {
  const signature = (_: string, head: string, params: string, tail: string): string => {
    const passed = params
      .replace(
        /(%\w+): !llvm\.array<(\d+) x i8>/g,
        '$1: !llvm.ptr {llvm.align = 64 : i32, llvm.byval = !llvm.array<$2 x i8>, nvvm.grid_constant}',
      )
      .replace(/(%\w+): !llvm\.ptr(?=,|$)/g, '$1: !llvm.ptr {llvm.align = 16 : i32}');
    return head + passed + tail.replace('nvvm.kernel', 'nvvm.kernel, nvvm.minctasm = 1 : i32');
  };
  return bytes(
    text(module)
      .replace(/(llvm\.func @\w+_kernel\()(.*?)(\) attributes \{.*)/, signature)
      .replace(/(unrealized_conversion_cast %arg\d+ : )!llvm\.array<\d+ x i8>( to !llvm\.ptr)/g, '$1!llvm.ptr$2')
      .replace(
        /llvm\.mlir\.global internal (@__dynamic_shmem__\d+\(\)) \{([^}]*)alignment = \d+ : i64/g,
        'llvm.mlir.global external $1 {$2alignment = 1024 : i64',
      ),
  );
}

/** The body of the one gpu.module, as a module of its own. */
function deviceModule(module: Uint8Array): Uint8Array {
  const body = /^ {2}gpu\.module @\w+[^\n]*\{\n([\s\S]*?)^ {2}\}$/m.exec(text(module))?.[1];
  invariant(body !== undefined, 'no gpu.module after outlining');
  return bytes(`module {\n${body}}\n`);
}

/** Whether a module calls NVIDIA's library of device functions. */
export const needsLibrary = (ll: Uint8Array): boolean => text(ll).includes('@__nv_');

type Steps = Readonly<Record<'outlined' | 'llvm' | 'll' | 'optimized' | 'ptx', ToolStage<ToolName>>> & {
  /** Links the library's bitcode in, where it is needed. */
  readonly linked: (library: string) => ToolStage<ToolName>;
};

/** The steps from `nvvm.mlir` to `ptx`, in order. */
export function ptxSteps(
  target: NvidiaTarget,
  extra: Readonly<Partial<Record<ToolName, readonly string[]>>> = {},
): Steps {
  const machine = [`-mtriple=${triple}`, `-mcpu=${target.name}`];
  const passes = (pipeline: string) => (input: string, output: string) => [
    input,
    `--pass-pipeline=builtin.module(${pipeline})`,
    ...(extra['mlir-opt'] ?? []),
    '-o',
    output,
  ];
  return {
    outlined: {
      stage: 'outlined.mlir',
      from: 'nvvm.mlir',
      tool: 'mlir-opt',
      args: passes(outline(target)),
      clean: withKernelAttributes,
    },
    llvm: { stage: 'llvm.mlir', from: 'outlined.mlir', tool: 'mlir-opt', args: passes(finish), clean: deviceModule },
    ll: {
      stage: 'll',
      from: 'llvm.mlir',
      tool: 'mlir-translate',
      args: (input, output) => ['--mlir-to-llvmir', input, '-o', output],
    },
    linked: (library) => ({
      stage: 'linked.ll',
      from: 'll',
      tool: 'llvm-link',
      args: (input, output) => ['--internalize', '--only-needed', input, library, '-S', '-o', output],
    }),
    optimized: {
      stage: 'opt.ll',
      from: 'll',
      tool: 'opt',
      args: (input, output) => ['-O3', ...machine, input, '-S', '-o', output],
    },
    ptx: {
      stage: 'ptx',
      from: 'opt.ll',
      tool: 'llc',
      args: (input, output) => [
        '-O3',
        ...machine,
        `-mattr=+${ptxFeature(target)}`,
        '-nvptx-prec-divf32=1',
        input,
        '-o',
        output,
      ],
    },
  };
}
