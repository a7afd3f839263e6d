import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { operatorNode } from '../sandbox/image/operator-node';
import { formatError } from '../sandbox/sandbox-error';
import { benchAutomations } from './automations';
import { benchColdStart } from './cold-start';
import { benchCommands } from './commands';
import { benchConfiguration } from './configuration';
import { benchDelivery } from './delivery';
import { benchFleet } from './fleet';
import { benchHostileInput } from './hostile-input';
import { benchHostileOperator } from './hostile-operator';
import { benchHubTest } from './hub-test';
import { benchHubTestFidelity } from './hub-test-fidelity';
import { benchHubs } from './hubs';
import { benchRegistries } from './registries';
import { benchRuntime, type Figures } from './runtime';
import { writeFiguresPage } from './figures-page';
import { benchSettings } from './settings';
import { soak } from './soak';
import { benchWebhook } from './webhook';

/** `make bench` and `make soak`: prints a table of figures and stores it in bench/results. */

const benches: Readonly<Record<string, () => Promise<Figures>>> = {
  runtime: () => benchRuntime(numberOf('N', 10_000)),
  automations: () => benchAutomations(numberOf('N', 200), numberOf('MANY', 500), numberOf('ROUNDS', 3)),
  delivery: () => benchDelivery(numberOf('N', 500), numberOf('MANY', 2_000), numberOf('FLOOR', 200)),
  registries: () => benchRegistries(numberOf('N', 200)),
  settings: () => benchSettings(numberOf('N', 500)),
  commands: () => benchCommands(numberOf('N', 2_000), numberOf('SHOWN', 500), numberOf('ROUNDS', 9)),
  configuration: () => benchConfiguration(numberOf('N', 5)),
  'hub-test': () => benchHubTest(numberOf('N', 20)),
  'hub-test-fidelity': () => benchHubTestFidelity(),
  hubs: () => benchHubs(numberOf('N', 20)),
  'cold-start': () => benchColdStart(),
  fleet: () => benchFleet(numberOf('N', 300), numberOf('MINUTES', 10)),
  webhook: () => benchWebhook(numberOf('N', 5_000)),
  'hostile-input': () => benchHostileInput(numberOf('N', 1_000)),
  'hostile-operator': () => benchHostileOperator(numberOf('N', 1_000)),
  soak: () => soak(numberOf('MINUTES', 20)),
};

function numberOf(name: string, fallback: number): number {
  return Number(process.env[name] ?? fallback);
}

const machine = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'})`;

async function main(name: string): Promise<void> {
  const bench = benches[name];
  if (!bench) throw new Error(`There is no bench ${name}; there are ${Object.keys(benches).join(', ')}.`);
  const figures = await bench();
  console.table(figures);
  const results = join(__dirname, 'results');
  await mkdir(results, { recursive: true });
  const today = new Date().toISOString().slice(0, 10);
  const { version } = operatorNode();
  const kept = { ...figures, measured: `${today}, ${machine}, operator on Node.js ${version}` };
  const file = name === 'runtime' && figures['automations'] === 500 ? 'runtime-500' : name;
  await writeFile(join(results, `${file}.json`), `${JSON.stringify(kept, undefined, 2)}\n`);
  await writeFiguresPage(results, join(__dirname, '..', 'docs', 'reference', 'figures.md'));
  if (figures['verdict'] === 'FAILED') process.exitCode = 1;
}

main(process.argv[2] ?? 'runtime').then(
  () => process.exit(),
  (error: unknown) => {
    console.error(formatError(error));
    process.exit(1);
  },
);
