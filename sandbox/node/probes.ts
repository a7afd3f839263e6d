/** Startup, readiness and liveness probes, sent to 127.0.0.1 or run as a command. */
import { execFile } from 'node:child_process';
import { get } from 'node:http';
import { connect } from 'node:net';
import type { V1HTTPGetAction, V1Probe } from '@kubernetes/client-node';
import { systemClock } from '../../operator/base/clock';
import { CombinedSignal } from '../../operator/base/deadline';
import { pause } from './pause';

const ADDRESS = '127.0.0.1';

/** The container that is probed. */
export interface ProbeTarget {
  readonly port: number;
  /** Prepares a command for execution as in the container. */
  readonly command: (command: readonly string[]) => {
    readonly line: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
    readonly workingDirectory: string;
  };
}

/**
 * Yields a verdict each time a threshold of the probe is reached, until the signal is aborted. The interval
 * is that of the probe. `onFailure` gets each failure with the kubelet's message. The pod's one port replaces
 * any port in the probe.
 */
export async function* verdicts(
  probe: V1Probe,
  target: ProbeTarget,
  signal: AbortSignal,
  onFailure: (problem: string) => void,
): AsyncGenerator<boolean> {
  const { initialDelaySeconds = 0, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe;
  let healthy: boolean | undefined;
  let inARow = 0;
  if (!(await pause(initialDelaySeconds * 1000, signal))) return;
  do {
    const problem = await ask(probe, target, signal);
    if (signal.aborted) return;
    if (problem !== undefined) onFailure(problem);
    const answer = problem === undefined;
    inARow = answer === healthy ? inARow + 1 : 1;
    healthy = answer;
    if (inARow >= (healthy ? successThreshold : failureThreshold)) yield healthy;
  } while (await pause(periodSeconds * 1000, signal));
}

/** Runs the probe once. Resolves with the failure, or `undefined` when the probe succeeds. */
async function ask(probe: V1Probe, target: ProbeTarget, signal: AbortSignal): Promise<string | undefined> {
  const { timeoutSeconds = 1 } = probe;
  // AbortSignal.any with AbortSignal.timeout is not used: Node.js may collect the timeout before it fires,
  // and the probe would hang.
  const limit = new CombinedSignal(signal);
  const cancel = systemClock.after(timeoutSeconds * 1000, () => limit.abort(undefined));
  try {
    return await askOnce(probe, target, limit.signal);
  } catch (error) {
    return said(error as Error); // for a path or a header that cannot be sent
  } finally {
    cancel();
    limit.dispose();
  }
}

async function askOnce({ exec, httpGet, tcpSocket }: V1Probe, target: ProbeTarget, signal: AbortSignal) {
  if (exec) return runCommand(exec.command ?? [], target, signal);
  if (httpGet) return askHttp(httpGet, target.port, signal);
  if (tcpSocket) return askTcp(target.port, signal);
  return undefined;
}

/** Resolves with undefined when the command exits with 0, otherwise with its output. */
function runCommand(command: readonly string[], target: ProbeTarget, signal: AbortSignal) {
  const { line, environment, workingDirectory } = target.command(command);
  const [program = '', ...args] = line;
  return new Promise<string | undefined>((resolve) => {
    const options = { env: environment, cwd: workingDirectory, signal };
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve(error ? (stdout + stderr).trim() || said(error) : undefined),
    );
  });
}

function askHttp({ path = '/', httpHeaders = [] }: V1HTTPGetAction, port: number, signal: AbortSignal) {
  const given = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
  const headers = { 'User-Agent': 'kube-probe/sandbox', ...given };
  return new Promise<string | undefined>((resolve) => {
    const request = get({ host: ADDRESS, port, path, signal, agent: false, headers }, (response) => {
      // Only the status counts. The kubelet follows redirects on the same host; here a redirect is a success.
      response.destroy();
      const { statusCode = 0 } = response;
      const good = statusCode >= 200 && statusCode < 400;
      resolve(good ? undefined : `HTTP probe failed with statuscode: ${statusCode}`);
    });
    request.on('error', (error) => resolve(`Get "http://${ADDRESS}:${port}${path}": ${said(error)}`));
  });
}

function askTcp(port: number, signal: AbortSignal) {
  return new Promise<string | undefined>((resolve) => {
    const socket = connect({ host: ADDRESS, port, signal });
    socket.on('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on('error', (error) => resolve(`dial tcp ${ADDRESS}:${port}: ${said(error)}`));
  });
}

function said(error: Error): string {
  return error.name === 'AbortError' ? 'context deadline exceeded' : error.message;
}
