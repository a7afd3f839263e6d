import { text } from 'node:stream/consumers';
import { type Clock, systemClock } from '../operator/base/clock';
import { Cluster, type ClusterOptions } from './cluster';
import { Terminal } from './terminal';

/** The surroundings of a command, which tests replace. */
export interface Environment {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  connect(options: ClusterOptions): Cluster;
  readStandardInput(): Promise<string>;
}

/** The surroundings of the process. */
export function processEnvironment(signal: AbortSignal): Environment {
  const { env, stderr, stdin, stdout } = process;
  return {
    terminal: new Terminal({ stdout, stderr, env }),
    clock: systemClock,
    signal,
    connect: (options) => Cluster.connect(options, systemClock),
    readStandardInput: () => text(stdin),
  };
}
