import { join } from 'node:path';
import { WEBHOOK } from '../operator/kinds/object-names';
import { repository } from './image/bundle';
import { type ClusterAccess, sandboxKubectl } from './operator-process';
import { readManifests } from '../manifests/read-manifests';

/** Settings of an operator that serves the webhook in a sandbox, where the API server reaches it without a Service. */
export function webhookSettings(port: number): Record<string, string> {
  return { WEBHOOK: 'self-signed', WEBHOOK_HOST: '127.0.0.1', WEBHOOK_PORT: String(port) };
}

interface Registration {
  readonly kind: string;
  readonly webhooks: readonly Record<string, unknown>[];
}

/**
 * Registers the webhook as `dist/` does, but with the address of a process on this machine.
 * @param namespace limits the webhook to one namespace; without it the webhook serves all
 */
export async function installWebhook(
  sandbox: ClusterAccess,
  port: number,
  namespace?: string,
): Promise<void> {
  const objects = readManifests(join(repository, 'dist', 'install.yaml')) as Registration[];
  const shipped = objects.find(({ kind }) => kind === 'ValidatingWebhookConfiguration')!;
  const registration = {
    ...shipped,
    webhooks: shipped.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { url: `https://127.0.0.1:${port}${WEBHOOK.path}` },
      ...(namespace !== undefined && {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      }),
    })),
  };
  await sandboxKubectl(
    sandbox,
    ['apply', '--server-side', '--force-conflicts', '-f', '-'],
    JSON.stringify(registration),
  );
}
