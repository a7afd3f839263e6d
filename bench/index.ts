import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explain } from '../sandbox/failure';
import { benchAutomations } from './automations';
import { benchHubs } from './hubs';
import { benchRuntime, type Figures } from './runtime';
import { soak } from './soak';

/** `make bench` and `make soak`: prints a table of figures and keeps it in bench/results. */

const benches: Readonly<Record<string, () => Promise<Figures>>> = {
  runtime: () => benchRuntime(numberOf('N', 10_000)),
  automations: () => benchAutomations(numberOf('N', 200), numberOf('MANY', 500), numberOf('ROUNDS', 3)),
  hubs: () => benchHubs(numberOf('N', 20)),
  soak: () => soak(numberOf('MINUTES', 20)),
};

function numberOf(name: string, fallback: number): number {
  return Number(process.env[name] ?? fallback);
}

async function main(name: string): Promise<void> {
  const bench = benches[name];
  if (!bench) throw new Error(`There is no bench ${name}; there are ${Object.keys(benches).join(', ')}.`);
  const figures = await bench();
  console.table(figures);
  const results = join(__dirname, 'results');
  await mkdir(results, { recursive: true });
  await writeFile(join(results, `${name}.json`), `${JSON.stringify(figures, undefined, 2)}\n`);
  if (figures['verdict'] === 'FAILED') process.exitCode = 1;
}

main(process.argv[2] ?? 'runtime').then(
  () => process.exit(),
  (error: unknown) => {
    console.error(explain(error));
    process.exit(1);
  },
);
