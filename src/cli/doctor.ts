import { defineCommand } from './command.js';

export const command = defineCommand({
  summary: 'say what works on this machine, and how to get the rest',
  operands: { synopsis: '', min: 0, max: 0 },
  flags: ['json', 'mlirOpt', 'cc', 'ptxas', 'pythons'],
  async run({ flags }, session) {
    const { doctor } = await import('../api/doctor.js');
    const rows = await doctor(
      {
        ...(flags.mlirOpt === undefined ? {} : { 'mlir-opt': flags.mlirOpt }),
        ...(flags.cc === undefined ? {} : { cc: flags.cc }),
        ...(flags.ptxas === undefined ? {} : { ptxas: flags.ptxas }),
      },
      Object.fromEntries(flags.pythons).triton,
    );
    if (flags.json) await session.print(`${JSON.stringify({ rows }, null, 2)}\n`);
    else
      for (const { name, works, detail, fix } of rows)
        await session.print(
          `${works ? 'ok     ' : 'missing'} ${name.padEnd(18)} ${detail}${fix === undefined ? '' : `\n        ${''.padEnd(18)} ${fix}`}\n`,
        );
    return rows.every((r) => r.works) ? 0 : 3;
  },
});
