import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, runsDirectory } from './run-directory';
import type { Sandbox } from './index';

/** Path of the file that describes the first of the runs that go on, for programs. */
export const runFile = (): string => join(runsDirectory(), 'run.json');

/** Path of the file of a run that was started beside another one. */
const besideFile = (): string => join(runsDirectory(), `run-${process.pid}.json`);

/**
 * Writes the run file: process ids, paths and addresses of the run, and `extra`, such as the URLs of hubs. That of another
 * run that goes on stays.
 */
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
  // Put into place as a whole, so that no reader sees a partial file.
  const partial = `${runFile()}.${process.pid}`;
  await writeFile(partial, `${JSON.stringify(run, undefined, 2)}\n`);
  const isFirst = await link(partial, runFile()).then(
    () => true,
    () => false,
  );
  if (isFirst) return rm(partial);
  const writer = await writerOf(runFile());
  const isOthers = writer !== undefined && writer !== process.pid && isAlive(writer);
  await rename(partial, isOthers ? besideFile() : runFile());
}

/** Removes the file of this run. */
export async function removeRunFile(): Promise<void> {
  await rm(besideFile(), { force: true });
  if ((await writerOf(runFile())) === process.pid) await rm(runFile());
}

/** The process that wrote the file; undefined: there is no such file. */
async function writerOf(file: string): Promise<number | undefined> {
  const content = await readFile(file, 'utf8').catch(() => undefined);
  return content === undefined ? undefined : (JSON.parse(content) as { pid: number }).pid;
}
