import { spawn } from 'node:child_process';
import { messageOf } from '../../operator/base/errors';
import type { Cluster } from '../cluster';
import { CommandError } from '../command-error';

/** A port of this machine that leads to a Service. */
export interface ForwardedPort {
  readonly url: string;
  close(): void;
}

/** Has kubectl forward a free port to a Service; it ends with this process. @throws CommandError */
export async function forwardPort(cluster: Cluster, service: string, port: number): Promise<ForwardedPort> {
  const { kubeconfig, context } = cluster.options;
  const child = spawn(
    process.env['KUBECTL'] || 'kubectl',
    [
      ...(kubeconfig ? [`--kubeconfig=${kubeconfig}`] : []),
      ...(context ? [`--context=${context}`] : []),
      `--namespace=${cluster.namespace}`,
      'port-forward',
      `service/${service}`,
      `:${port}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const close = () => void child.kill();
  process.once('exit', close);
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why: string) =>
      reject(
        new CommandError(
          `the hub cannot be reached from here, and kubectl port-forward service/${service} fails: ${why}`,
        ),
      );
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const local = /127\.0\.0\.1:(\d+) ->/.exec(output)?.[1];
      if (local !== undefined) resolve({ url: `http://127.0.0.1:${local}`, close });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', (error) => fail(messageOf(error)));
    child.on('close', () => fail(output.trim() || 'it ended'));
  });
}
