import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpuSecondsOfEnded } from '../__tests__/cluster/cpu-seconds';
import { ReleaseHost } from '../__tests__/cluster/release-host';
import { repository } from '../sandbox/image/bundle';
import type { Figures } from './runtime';

/** Size in bytes of a stand-in program, about that of an official one. */
const SIZE = 80e6;

/**
 * Measures `make run` from the start until all samples are Ready, first with empty caches and then a second
 * time. A stand-in on this machine serves programs of about the official ones' size in place of their host;
 * everything else comes from the package registries.
 */
export async function benchColdStart(): Promise<Figures> {
  const host = await ReleaseHost.start(SIZE);
  const folder = await mkdtemp(join(tmpdir(), 'cold-start-'));
  const path = (name: string) => join(folder, name);
  const environment = {
    ...process.env,
    ...host.environment,
    HUB_OPERATOR_CACHE: path('cache'),
    HUB_OPERATOR_RUNS: path('runs'),
    GOCACHE: path('go-build'),
    GOMODCACHE: path('go-modules'),
    UV_CACHE_DIR: path('uv'),
    PIP_CACHE_DIR: path('pip'),
    ONCE: '1',
  };
  try {
    await mkdir(path('runs'));
    const cold = await timedRun(environment);
    const again = await timedRun(environment);
    return {
      'nothing in any cache, all samples Ready, s': cold.seconds,
      ...Object.fromEntries(cold.steps.map(([step, time]) => [`of these: ${step}`, time])),
      'CPU of all processes, s': cold.processor,
      'again, s': again.seconds,
      'again: CPU of all processes, s': again.processor,
      'requests to the host of the programs': host.requested.length,
    };
  } finally {
    await host.stop();
    // The files of the module cache are read-only, so Go itself has to remove them.
    await promisify(execFile)('go', ['clean', '-modcache'], { env: environment });
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Runs `make run` until all samples are Ready. */
async function timedRun(env: NodeJS.ProcessEnv) {
  const began = Date.now();
  const before = await cpuSecondsOfEnded();
  const child = spawn(process.execPath, ['--import', 'tsx', join('sandbox', 'run.ts')], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let ready: number | undefined;
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    output += text;
    // `make run` prints this together with the table of all resources, when all are Ready.
    if (text.includes('export KUBECONFIG=')) ready ??= Date.now();
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0 || ready === undefined) throw new Error(`make run ended with ${String(code)}`);
  const steps = [...output.matchAll(/^(.+): done in ([^,\n]+)/gm)].map(([, step, time]) => [step, time]);
  return {
    seconds: Math.round((ready - began) / 100) / 10,
    processor: Math.round((await cpuSecondsOfEnded()) - before),
    steps: steps as [string, string][],
  };
}
