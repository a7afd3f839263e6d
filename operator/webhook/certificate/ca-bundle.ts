import type { ApiClient } from '../../runtime/api-client';
import { type ClusterObject, pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';

/** An object of `admissionregistration.k8s.io/v1`, with the fields that the operator reads. */
export interface WebhookConfiguration extends ClusterObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: {
      /** The CA in PEM, encoded in base64. */
      readonly caBundle?: string;
      readonly service?: { readonly name: string; readonly namespace: string };
    };
  }[];
}

/**
 * The field manager of `caBundle`. All other fields belong to the manager that applies `dist/`, so that
 * neither removes fields of the other.
 */
const FIELD_MANAGER = 'hub-operator-webhook';

/** Whether the API server trusts this CA and no other. */
export function hasBundle({ webhooks = [] }: WebhookConfiguration, ca: string): boolean {
  return webhooks.every(({ clientConfig }) => clientConfig.caBundle === encoded(ca));
}

/**
 * The host name of the webhook's Service, as the API server calls it; undefined if the configuration names a
 * URL and no Service.
 */
export function serviceHost({ webhooks = [] }: WebhookConfiguration): string | undefined {
  const service = webhooks[0]?.clientConfig.service;
  return service && `${service.name}.${service.namespace}.svc`;
}

/**
 * Makes the API server trust this CA and no other, with a server-side apply of `caBundle` alone.
 *
 * @throws ApiError a conflict: the configuration was changed or deleted since it was read
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
      // With the resource version, the apply does not create a configuration again that was deleted since it
      // was read.
      metadata: { name, resourceVersion },
      webhooks: webhooks.map((webhook) => ({ name: webhook.name, clientConfig: { caBundle: encoded(ca) } })),
    },
  });
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');
