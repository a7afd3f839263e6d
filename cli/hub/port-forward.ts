import { spawn } from 'node:child_process';
import { messageOf } from '../../operator/base/errors';
import type { Cluster } from '../cluster';
import { CommandError } from '../command-error';
import { oneLine } from '../output';

/** A local port that leads to a Service. */
interface ForwardedPort {
  readonly url: string;
  close(): void;
}

/** Signals with which a user or a pipeline ends a command. A process that ends by one does not emit `exit`. */
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** There is no route to the hub of a Hub: nothing was sent to the hub. */
export class NoWayToHub extends CommandError {}

/**
 * Runs kubectl to forward a free local port to a pod of a Service, until this process ends.
 *
 * @param tried description of a previous attempt that failed
 * @throws NoWayToHub
 */
export async function forwardPort(
  cluster: Cluster,
  service: string,
  port: number,
  tried?: Error,
): Promise<ForwardedPort> {
  const child = spawnPortForward(cluster, service, port);
  const forget = atEnd(() => close());
  const close = () => {
    forget();
    child.kill();
  };
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why: string) =>
      reject(
        new NoWayToHub(
          `the hub cannot be reached: ${tried ? `${tried.message}, and ` : ''}kubectl port-forward service/${service} fails: ${oneLine(why)}; ` +
            `this needs the rights to get Services, to get and list pods and to create pods/portforward in the namespace ${cluster.namespace}. ` +
            'Without them, diff and export read a hub at an address that you vouch for: --url with --token-file',
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
    child.on('close', () => {
      forget();
      fail(output.trim() || 'it ended');
    });
  });
}

/** Calls `close` when this process ends. @returns a function that forgets it */
function atEnd(close: () => void): () => void {
  const end = (signal: NodeJS.Signals): void => {
    close();
    // The command itself ends after Ctrl-C.
    if (signal !== 'SIGINT') process.kill(process.pid, signal);
  };
  process.on('exit', close);
  ENDINGS.forEach((each) => process.on(each, end));
  return () => {
    process.off('exit', close);
    ENDINGS.forEach((each) => process.off(each, end));
  };
}

function spawnPortForward({ namespace, options }: Cluster, service: string, port: number) {
  const { kubeconfig, context } = options;
  return spawn(
    process.env['KUBECTL'] || 'kubectl',
    [
      ...(kubeconfig ? [`--kubeconfig=${kubeconfig}`] : []),
      ...(context ? [`--context=${context}`] : []),
      `--namespace=${namespace}`,
      'port-forward',
      `service/${service}`,
      `:${port}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
}
