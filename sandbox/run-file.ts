import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runsDirectory } from './run-directory';
import type { Sandbox } from './index';

/** Where programs find the run that was started last. */
export const runFile = (): string => join(runsDirectory(), 'run.json');

/** Says for programs what a run's start prints for people; `extra` is added, such as the addresses of hubs. */
export async function writeRunFile(
  sandbox: Sandbox,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const run = {
    pid: process.pid,
    directory: sandbox.directory,
    kubeconfig: sandbox.kubeconfig,
    kubectl: sandbox.kubectl,
    apiServer: sandbox.apiServer,
    ports: sandbox.controlPlane.ports,
    pids: sandbox.controlPlane.pids(),
    ...extra,
  };
  await mkdir(runsDirectory(), { recursive: true });
  // Renamed into place, so that nobody reads half of it.
  const partial = `${runFile()}.${process.pid}`;
  await writeFile(partial, `${JSON.stringify(run, undefined, 2)}\n`);
  await rename(partial, runFile());
}

/** Removes it, unless another run has written its own since. */
export async function removeRunFile(): Promise<void> {
  const content = await readFile(runFile(), 'utf8').catch(() => undefined); // there is none
  if (content !== undefined && (JSON.parse(content) as { pid: number }).pid === process.pid)
    await rm(runFile());
}
