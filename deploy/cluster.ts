import { CommandError } from './command-error';
import type { Kubectl } from './kubectl';

/** The cluster that kubectl's current context leads to. */
export interface Cluster {
  readonly context: string;
  /** `https://host:port` */
  readonly server: string;
  /** `v1.36.3` */
  readonly version: string;
}

/** @throws CommandError without a current context, or when its API server does not answer */
export async function currentCluster(kubectl: Kubectl): Promise<Cluster> {
  const { stdout, code } = await kubectl.try(['config', 'view', '--minify', '--output=json']);
  if (code !== 0)
    throw new CommandError(
      'kubectl has no current context.',
      'Choose one with `kubectl config use-context`; `kubectl config get-contexts` lists them.',
    );
  const { contexts, clusters } = JSON.parse(stdout) as {
    contexts: [{ name: string }];
    clusters: [{ cluster: { server: string } }];
  };
  const context = contexts[0].name;
  const { server } = clusters[0].cluster;
  const version = await kubectl.try(['version', '--output=json']);
  const { serverVersion } = (version.stdout ? JSON.parse(version.stdout) : {}) as {
    serverVersion?: { gitVersion: string };
  };
  if (!serverVersion)
    throw new CommandError(
      `The API server ${server} of the context ${context} does not answer: ${version.stderr.trim()}`,
      'Check the context, the network and your credentials.',
    );
  return { context, server, version: serverVersion.gitVersion };
}

/** Lines that show it to the person who is asked. */
export function showCluster({ context, server, version }: Cluster): string {
  return `  context  ${context}\n  server   ${server} (Kubernetes ${version})`;
}
