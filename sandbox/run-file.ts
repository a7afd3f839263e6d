import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { goesOn, runsDirectory } from './run-directory';
import type { Sandbox } from './index';

/** Path of the file that describes the first of the running sandboxes, for other programs. */
export const runFile = (): string => join(runsDirectory(), 'run.json');

/**
 * The part of a sandbox that identifies a run. A pid is not enough, since two PID namespaces may each have a
 * process with the same pid.
 */
type Run = Pick<Sandbox, 'directory'>;

/**
 * Path of the file of a run that was started while another one was in progress. If the run is killed, the
 * next run removes the file.
 */
const besideFile = ({ directory }: Run): string => join(runsDirectory(), `${basename(directory)}.json`);

/**
 * Writes the run file: process ids, paths and addresses of the run, and `extra`, such as the URLs of hubs.
 * The file of another run that is still in progress stays.
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
  // The file is renamed into place, so that no reader sees a partial file.
  const partial = `${besideFile(sandbox)}.partial`;
  await writeFile(partial, `${JSON.stringify(run, undefined, 2)}\n`);
  const isFirst = await link(partial, runFile()).then(
    () => true,
    () => false,
  );
  if (isFirst) return rm(partial);
  const writer = await writerOf(runFile());
  const isOthers = writer !== undefined && writer !== basename(sandbox.directory) && (await goesOn(writer));
  await rename(partial, isOthers ? besideFile(sandbox) : runFile());
}

/** Removes the file of this run. */
export async function removeRunFile(run: Run): Promise<void> {
  await rm(besideFile(run), { force: true });
  if ((await writerOf(runFile())) === basename(run.directory)) await rm(runFile());
}

/**
 * Returns the name of the folder of the run that wrote the file, or undefined when the file does not exist.
 */
async function writerOf(file: string): Promise<string | undefined> {
  const content = await readFile(file, 'utf8').catch(() => undefined);
  return content === undefined ? undefined : basename((JSON.parse(content) as Run).directory);
}
