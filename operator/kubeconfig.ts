import { KubeConfig } from '@kubernetes/client-node';

/**
 * Throws one sentence when the kubeconfig cannot be used. The framework loads it by itself; what it throws then does not
 * even say that it is about the kubeconfig.
 *
 * @param path value of KUBECONFIG; undefined: the usual places, at last the service account of the pod
 */
export function checkKubeconfig(path: string | undefined): void {
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new Error(`The kubeconfig ${path ?? 'of this user'} cannot be read: ${reason}`, { cause: error });
  }
  if (!config.getCurrentCluster()) {
    throw new Error(`The kubeconfig ${path ?? 'of this user'} names no cluster in its current context.`);
  }
}
