import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { callService } from '../operator/client/services';
import { objectNames } from '../operator/kinds/object-names';
import type { CustomResource } from '../operator/kinds/resource';
import { pathOf } from '../operator/runtime/objects';
import { operatorNode } from '../sandbox/image/operator-node';
import { builtin } from '../operator/runtime/types';
import { cpuSeconds } from '../__tests__/cluster/cpu-seconds';
import { editorAutomation } from '../__tests__/cluster/editor-automation';
import { type BenchHub, HubBench } from './hub-bench';
import { median } from './median';
import type { Figures } from './runtime';

const BUNDLE = join(__dirname, '..', 'build', 'kubectl-hub.cjs');
/**
 * One automation in this many uses a blueprint. For each of those the hub parses its whole automation file.
 */
const BLUEPRINT_INTERVAL = 200;
const FIRST_ID = 1_699_999_999_999;
/**
 * A shell command that prints, as a line on standard error, the seconds that a program took: elapsed time,
 * processor time of the program, processor time of the kernel for the program.
 */
const TIMED = 'TIMEFORMAT="%R %U %S"; time "$@"';
const CREATES_AT_ONCE = 20;

/** Times of one command in milliseconds, from its start to its end. */
interface Time {
  readonly whole: number;
  readonly processor: number;
}

/**
 * Measures commands of `kubectl hub` as a whole, on a real hub with automations as its editor writes them: an
 * export of `exported` automations, and the status of `shown` automations that were applied as they were
 * exported.
 */
export async function benchCommands(exported: number, shown: number, rounds: number): Promise<Figures> {
  const bench = await HubBench.start();
  const folder = await mkdtemp(join(tmpdir(), 'commands-'));
  try {
    const hub = await bench.hub();
    await fill(bench, hub, exported);
    const where = [`--namespace=${hub.namespace}`, `--kubeconfig=${bench.sandbox.kubeconfig}`];
    const run = (node: string, ...args: readonly string[]) => timed(node, [BUNDLE, ...args, ...where]);
    const before = await cpuSeconds(hub.pid);
    const whole = await run(process.execPath, 'export', '--hub=hub', `--to=${folder}`);
    const ofHub = ((await cpuSeconds(hub.pid)) - before) * 1_000;
    const files = await readdir(join(folder, 'automations'));
    await adopt(bench, hub, join(folder, 'automations'), files.sort().slice(0, shown));
    const { bare, starts, statuses, newer } = await timesOf(rounds, (node) => run(node, 'status'));
    return {
      'automations of the hub': exported,
      'files of the export': files.length,
      'export, s': seconds(whole.whole),
      'export: CPU of the hub, s': seconds(ofHub),
      'export: CPU of the hub for each, ms': Math.round((ofHub / exported) * 10) / 10,
      'export: CPU of the program, s': seconds(whole.processor),
      'resources of the status': shown,
      ...figuresOf('status', statuses),
      ...figuresOf('status with the operator’s Node.js', newer),
      ...figuresOf('start of the program alone', starts),
      'start of Node.js alone, median, ms': usual(bare.map((time) => time.whole)),
      'start of Node.js alone: CPU, ms': usual(bare.map(({ processor }) => processor)),
      'runs of each': rounds,
      'commands on Node.js': process.versions.node,
    };
  } finally {
    await rm(folder, { recursive: true });
    await bench.stop();
  }
}

const figuresOf = (name: string, times: readonly Time[]): Figures => ({
  [`${name}, median, ms`]: usual(times.map(({ whole }) => whole)),
  [`${name}, shortest, ms`]: shortest(times.map(({ whole }) => whole)),
  [`${name}: CPU, ms`]: usual(times.map(({ processor }) => processor)),
});

/** @param status runs the command `status` on a Node.js */
async function timesOf(rounds: number, status: (node: string) => Promise<Time>) {
  const bare: Time[] = [];
  const starts: Time[] = [];
  const statuses: Time[] = [];
  const newer: Time[] = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(await timed(process.execPath, ['--eval', '']));
    starts.push(await timed(process.execPath, [BUNDLE, 'status', '--help']));
    statuses.push(await status(process.execPath));
    newer.push(await status(operatorNode().path));
  }
  return { bare, starts, statuses, newer };
}

/** Writes the file of the hub's automation editor, and makes the hub load it. */
async function fill({ cluster }: HubBench, { namespace, client }: BenchHub, count: number): Promise<void> {
  const read = <T>(path: string) => cluster.request<T>({ method: 'GET', path });
  const { volumeClaim } = objectNames('hub');
  const { spec: claim } = await read<{ spec: { volumeName: string } }>(
    pathOf(builtin.PersistentVolumeClaim, namespace, volumeClaim),
  );
  const { spec: volume } = await read<{ spec: { hostPath: { path: string } } }>(
    `/api/v1/persistentvolumes/${claim.volumeName}`,
  );
  const automations = Array.from({ length: count }, (_, index) => automation(index));
  await writeFile(join(volume.hostPath.path, 'automations.yaml'), JSON.stringify(automations));
  await callService(client.rest, 'automation', 'reload');
}

const automation = (index: number) =>
  editorAutomation({
    id: String(FIRST_ID + index),
    alias: `Automation ${index}`,
    isFromBlueprint: index % BLUEPRINT_INTERVAL === 0,
  });

/** Applies exported files, which changes nothing in the hub. */
async function adopt(
  bench: HubBench,
  { namespace }: BenchHub,
  folder: string,
  files: readonly string[],
): Promise<void> {
  const queue = [...files];
  const apply = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const { kind, metadata, spec } = load(await readFile(join(folder, file), 'utf8')) as CustomResource;
      await bench.create(namespace, kind, metadata.name, spec);
    }
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, apply));
  await bench.untilReady(namespace, 'HubAutomation');
}

async function timed(node: string, args: readonly string[]): Promise<Time> {
  const command = ['-c', TIMED, '-', node, ...args];
  // With NODE_EXTRA_CA_CERTS, Node.js 20 reads all certificate authorities at each start, even of an empty
  // script.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const { stderr } = await promisify(execFile)('bash', command, { maxBuffer: 1e8, env });
  const [whole = NaN, user = NaN, kernel = NaN] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number);
  return { whole: whole * 1_000, processor: (user + kernel) * 1_000 };
}

const usual = (times: readonly number[]): number => Math.round(median(times));
const shortest = (times: readonly number[]): number => Math.round(Math.min(...times));
const seconds = (milliseconds: number): number => Math.round(milliseconds / 10) / 100;
