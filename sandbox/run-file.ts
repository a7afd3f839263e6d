import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runsDirectory } from './run-directory';
import type { Sandbox } from './index';

/** Path of the file that describes the run that was started last, for programs. */
export const runFile = (): string => join(runsDirectory(), 'run.json');

/** Writes the run file: process ids, paths and addresses of the run, and `extra`, such as the URLs of hubs. */
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
  // Renamed into place, so that no reader sees a partial file.
  const partial = `${runFile()}.${process.pid}`;
  await writeFile(partial, `${JSON.stringify(run, undefined, 2)}\n`);
  await rename(partial, runFile());
}

/** Removes the run file unless another run has replaced it. */
export async function removeRunFile(): Promise<void> {
  const content = await readFile(runFile(), 'utf8').catch(() => undefined); // it does not exist
  if (content !== undefined && (JSON.parse(content) as { pid: number }).pid === process.pid)
    await rm(runFile());
}
