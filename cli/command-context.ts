import { Command } from 'commander';
import type { Cluster, ClusterOptions } from './cluster';
import type { Environment } from './environment';
import { type ExitCode, exitCodes } from './exit-codes';

/**
 * The implementation of a command, called with the arguments of commander: first the command's arguments,
 * then its options.
 */
type Work<Args extends readonly unknown[]> = (...args: Args) => Promise<ExitCode>;

/** Adapts commands to commander, and stores the exit code of the command that ran. */
export class CommandContext {
  exitCode: ExitCode = exitCodes.success;

  constructor(readonly environment: Environment) {}

  /** A handler for commander that runs the work and stores its exit code. */
  action<Args extends readonly unknown[]>(work: Work<Args>): (...args: [...Args, Command]) => Promise<void> {
    return async (...given) => {
      const args = given.slice(0, -1) as unknown as Args; // without the command, the last argument
      this.exitCode = await work(...args);
    };
  }

  /** Like {@link action}, with the cluster that the options select. */
  clusterAction<Args extends readonly unknown[]>(
    work: Work<[Cluster, ...Args]>,
  ): (...args: [...Args, Command]) => Promise<void> {
    return this.action(async (...args: Args) => {
      const cluster = this.environment.connect(args.at(-1) as ClusterOptions);
      try {
        return await work(cluster, ...args);
      } finally {
        cluster.close();
      }
    });
  }
}

/** A command with kubectl's options to select cluster and namespace. */
export function clusterCommand(name: string): Command {
  return new Command(name)
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('--context <name>', 'context of the kubeconfig (default: the current one)')
    .option('--kubeconfig <file>', 'kubeconfig (default: as kubectl finds it)');
}

/** Adds the option `-A` of kubectl. */
export function withAllNamespaces(command: Command): Command {
  return command.option('-A, --all-namespaces', 'the Hubs of all namespaces');
}
