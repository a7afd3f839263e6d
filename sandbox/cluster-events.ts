import { systemClock } from '../operator/base/clock';
import { createLogger } from '../operator/base/log';
import { ApiClient } from '../operator/runtime/api-client';
import { Informer } from '../operator/runtime/informer';
import type { ClusterObject } from '../operator/runtime/objects';
import { builtin } from '../operator/runtime/types';

type ClusterEvent = ClusterObject & {
  readonly lastTimestamp?: string | null;
  readonly involvedObject: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
  readonly reason?: string;
  readonly message?: string;
};

/** Widths in characters of all columns except the last. */
const COLUMNS = { TIME: 20, NAMESPACE: 10, KIND: 22, NAME: 30, REASON: 24 } as const;

/**
 * Passes each event that is written from now on to `print`, as a line. When the API server ends the watch,
 * the informer resumes at the same position.
 * @returns a function that stops the informer
 */
export async function followEvents(
  kubeConfig: ConstructorParameters<typeof ApiClient>[0],
  print: (line: string) => void,
): Promise<() => Promise<void>> {
  const cluster = new ApiClient(kubeConfig, { clock: systemClock });
  let areListed = false;
  const informer = new Informer<ClusterEvent>({
    cluster,
    clock: systemClock,
    log: createLogger('error'),
    type: builtin.Event,
    onChange: ({ type, object }) => {
      if (areListed && type !== 'deleted') print(lineOf(object));
    },
  });
  print(row([...Object.keys(COLUMNS), 'MESSAGE']));
  informer.start();
  await informer.waitForCacheSync();
  areListed = true;
  return async () => {
    await informer.stop();
    cluster.close();
  };
}

function lineOf({
  metadata,
  lastTimestamp,
  involvedObject,
  reason = '',
  message = '',
}: ClusterEvent): string {
  const { kind = '', name = '', namespace = '' } = involvedObject;
  const time = lastTimestamp ?? metadata.creationTimestamp ?? '';
  return row([time, namespace, kind, name, reason, message.split('\n')[0]!]);
}

function row(cells: readonly string[]): string {
  const widths = Object.values(COLUMNS);
  return cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
}
