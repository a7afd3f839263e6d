import { Command } from 'commander';
import type { Cluster, ClusterOptions } from './cluster';
import type { Environment } from './environment';
import { type ExitCode, exitCodes } from './exit-codes';

/** The work of a command with the arguments that commander gives it: the arguments, then the options. */
type Work<Args extends readonly unknown[]> = (...args: Args) => Promise<ExitCode>;

/** Adds commands to a program, and keeps the exit code of the one that ran. */
export class CommandContext {
  exitCode: ExitCode = exitCodes.success;

  constructor(readonly environment: Environment) {}

  /** Runs the work and keeps its exit code. */
  action<Args extends readonly unknown[]>(work: Work<Args>): (...args: [...Args, Command]) => Promise<void> {
    return async (...given) => {
      const args = given.slice(0, -1) as unknown as Args; // without the command itself
      this.exitCode = await work(...args);
    };
  }

  /** As {@link action}, with the cluster that the options name. */
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

/** A command with the options of kubectl that say which cluster and namespace. */
export function clusterCommand(name: string): Command {
  return new Command(name)
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('--context <name>', 'context of the kubeconfig (default: the current one)')
    .option('--kubeconfig <file>', 'kubeconfig (default: as kubectl finds it)');
}

/** `-A`, as kubectl has it. */
export function withAllNamespaces(command: Command): Command {
  return command.option('-A, --all-namespaces', 'the Hubs of all namespaces');
}
