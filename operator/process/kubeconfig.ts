import { KubeConfig } from '@kubernetes/client-node';

/**
 * Checks that the kubeconfig can be used before the framework loads it: the framework's error does not name
 * the file.
 *
 * @param path value of KUBECONFIG; undefined for the default locations and then the pod's service account
 * @throws Error its message is for the user
 */
export function checkKubeconfig(path: string | undefined): void {
  const config = new KubeConfig();
  const unusable = `cannot use the kubeconfig ${path ?? 'of this user'}`;
  try {
    config.loadFromDefault();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new Error(`cannot read the kubeconfig ${path ?? 'of this user'}: ${reason}`, { cause: error });
  }
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error(`${unusable}: it names no cluster in its current context`);
  if (cluster.proxyUrl)
    throw new Error(
      `${unusable}: it has the proxy-url ${cluster.proxyUrl}, which the operator does not support; ` +
        'remove it, and name a server that can be reached without a proxy',
    );
}
