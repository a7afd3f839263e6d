import type { ApiClient } from '../../runtime/api-client';
import { type ClusterObject, pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';

/** `admissionregistration.k8s.io/v1`, as far as the operator reads it. */
export interface WebhookConfiguration extends ClusterObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: {
      /** base64 of PEM */
      readonly caBundle?: string;
      readonly service?: { readonly name: string; readonly namespace: string };
    };
  }[];
}

/** The manager of these fields. The manager of `dist/` owns all others, so that neither removes the other's. */
const FIELD_MANAGER = 'hub-operator-webhook';

/** Whether the API server trusts this CA and no other. */
export function hasBundle({ webhooks = [] }: WebhookConfiguration, ca: string): boolean {
  return webhooks.every(({ clientConfig }) => clientConfig.caBundle === encoded(ca));
}

/** The name by which the API server calls the Service of the webhook; undefined: it calls no Service. */
export function serviceHost({ webhooks = [] }: WebhookConfiguration): string | undefined {
  const service = webhooks[0]?.clientConfig.service;
  return service && `${service.name}.${service.namespace}.svc`;
}

/**
 * Makes the API server trust this CA and no other, by server-side apply of nothing but `caBundle`.
 *
 * @throws ApiError a conflict: the configuration was changed or deleted meanwhile
 */
export function applyBundle(
  cluster: ApiClient,
  { metadata: { name, resourceVersion }, webhooks = [] }: WebhookConfiguration,
  ca: string,
): Promise<WebhookConfiguration> {
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
      webhooks: webhooks.map((webhook) => ({ name: webhook.name, clientConfig: { caBundle: encoded(ca) } })),
    },
  });
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');
