import { text } from 'node:stream/consumers';
import { type Clock, systemClock } from '../operator/base/clock';
import { Cluster, type ClusterOptions } from './cluster';
import type { HubFacts } from './doctor/hub-facts';
import type { Occupation } from './reconcile/occupation';
import { Terminal } from './terminal';

/** The environment of a command, which tests replace. */
export interface Environment {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  connect(this: void, options: ClusterOptions): Cluster;
  readStandardInput(this: void): Promise<string>;
  /** Reads the facts about the hub of a Hub resource. @throws CommandError, HubError */
  readHub(this: void, cluster: Cluster, name: string): Promise<HubFacts>;
  /**
   * Asks the hub of a Hub resource for operations that a restart would interrupt. @throws CommandError,
   * HubError
   */
  readOccupation(this: void, cluster: Cluster, name: string): Promise<Occupation | undefined>;
}

/** The environment of this process. */
export function processEnvironment(signal: AbortSignal): Environment {
  const { env, stderr, stdin, stdout } = process;
  return {
    terminal: new Terminal({ stdout, stderr, env }),
    clock: systemClock,
    signal,
    connect: (options) => Cluster.connect(options, systemClock),
    readStandardInput: () => text(stdin),
    readHub: async (cluster, name) => {
      const { openHub } = await import('./hub/access');
      const { readFacts } = await import('./doctor/hub-facts');
      const hub = await openHub(cluster, name, systemClock);
      return readFacts(hub.client).finally(() => hub.close());
    },
    readOccupation: async (cluster, name) => {
      const { openHub } = await import('./hub/access');
      const { readOccupation } = await import('./reconcile/occupation');
      const hub = await openHub(cluster, name, systemClock);
      return readOccupation(hub.client).finally(() => hub.close());
    },
  };
}
