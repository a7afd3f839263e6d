import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { kubeconfig } from '.';

/** Path of the bundle of the command line, as it ships. */
export const BUNDLE = join(__dirname, '../../build/kubectl-hub.cjs');

/** Runs the command line as a separate process, as administrator in one namespace of the cluster. */
export async function kubectlHub(
  namespace: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [command = '', ...rest] = args;
  const where = [`--kubeconfig=${kubeconfig()}`, `--namespace=${namespace}`];
  const child = spawn(process.execPath, [BUNDLE, command, ...where, ...rest], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}
