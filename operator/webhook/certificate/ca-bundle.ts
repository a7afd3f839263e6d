import type { ApiClient } from '../../runtime/api-client';
import { type ClusterObject, pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';

/** `admissionregistration.k8s.io/v1`, as far as the operator reads it. */
export interface WebhookConfiguration extends ClusterObject {
  readonly webhooks?: readonly {
    readonly name: string;
    /** `caBundle`: base64 of PEM. */
    readonly clientConfig: { readonly caBundle?: string };
  }[];
}

/** The manager of these fields. The manager of `dist/` owns all others, so that neither removes the other's. */
const FIELD_MANAGER = 'hub-operator-webhook';

/** Whether the API server trusts exactly these CAs. */
export function hasBundle({ webhooks = [] }: WebhookConfiguration, authorities: readonly string[]): boolean {
  return webhooks.every(({ clientConfig }) => decoded(clientConfig.caBundle) === bundleOf(authorities));
}

/** Whether the API server trusts this CA, perhaps beside others. */
export function trusts({ webhooks = [] }: WebhookConfiguration, authority: string): boolean {
  return webhooks.every(({ clientConfig }) => decoded(clientConfig.caBundle).includes(authority));
}

/**
 * Makes the API server trust these CAs and no others, by server-side apply of nothing but `caBundle`.
 *
 * @throws ApiError a conflict: the configuration was changed or deleted meanwhile
 */
export function applyAuthorities(
  cluster: ApiClient,
  { metadata: { name, resourceVersion }, webhooks = [] }: WebhookConfiguration,
  authorities: readonly string[],
): Promise<WebhookConfiguration> {
  const caBundle = Buffer.from(bundleOf(authorities)).toString('base64');
  return cluster.request<WebhookConfiguration>({
    method: 'PATCH',
    path: pathOf(builtin.ValidatingWebhookConfiguration, undefined, name),
    query: { fieldManager: FIELD_MANAGER, force: true },
    contentType: 'application/apply-patch+yaml',
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: builtin.ValidatingWebhookConfiguration.kind,
      // With the version, a configuration that was deleted meanwhile is not created again.
      metadata: { name, resourceVersion },
      webhooks: webhooks.map((webhook) => ({ name: webhook.name, clientConfig: { caBundle } })),
    },
  });
}

const bundleOf = (authorities: readonly string[]): string => authorities.map((ca) => `${ca}\n`).join('');

const decoded = (caBundle = ''): string => Buffer.from(caBundle, 'base64').toString('utf8');
