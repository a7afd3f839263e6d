import { settingsTable } from '../../operator/process/settings';
import { version } from '../../package.json';
import { NO_WEBHOOK, type SynthSettings, webhookCertificates } from '../settings';

/** A part of JSON Schema. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ValueSchema;
}

export interface Value {
  /** Such as `image.tag`. */
  readonly path: string;
  /** A sentence or more, in Markdown. */
  readonly about: string;
  readonly default: unknown;
  readonly schema: ValueSchema;
}

const text: ValueSchema = { type: 'string' };
const texts: ValueSchema = { type: 'object', additionalProperties: { type: 'string' } };
const anything: ValueSchema = { type: 'object' };
const objects: ValueSchema = { type: 'array', items: anything };
const quantities: ValueSchema = { type: 'object', additionalProperties: { type: ['string', 'number'] } };

/** Settings of the operator that the Deployment itself sets. */
const notForValues = /^(POD_|HTTP_|WEBHOOK|WATCH_NAMESPACES)/;
const operatorSettings = settingsTable().filter(({ env }) => !notForValues.test(env));

/** The values of the chart; their defaults are the settings of the synth. */
export function chartValues(settings: SynthSettings): readonly Value[] {
  const { repository, tag, digest } = partsOf(settings.image);
  return [
    {
      path: 'image.repository',
      about: 'Image of the operator, without its tag.',
      default: repository,
      schema: text,
    },
    {
      path: 'image.tag',
      about: 'Empty: the version of the chart.',
      default: tag === version ? '' : tag,
      schema: text,
    },
    {
      path: 'image.digest',
      about: 'Digest of the image, such as `sha256:…`; it wins over the tag.',
      default: digest,
      schema: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    },
    {
      path: 'image.pullPolicy',
      about: 'When a node pulls the image.',
      default: 'IfNotPresent',
      schema: { enum: ['Always', 'IfNotPresent', 'Never'] },
    },
    {
      path: 'imagePullSecrets',
      about: 'Secrets for a registry that asks for a login, such as `[{name: my-registry}]`.',
      default: [],
      schema: { type: 'array', items: { type: 'object', properties: { name: text }, required: ['name'] } },
    },
    {
      path: 'replicas',
      about: 'One works, the others wait to take over.',
      default: settings.replicas,
      schema: { type: 'integer', minimum: 0 },
    },
    {
      path: 'watchNamespaces',
      about:
        'Namespaces in which the operator works and has rights; they must exist. Empty: all, by a ClusterRole. With names the operator has no rights in the whole cluster, so that it cannot make the certificate of a webhook: set `webhook.certificate` to `cert-manager`, or there is no webhook.',
      default: [],
      schema: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' } },
    },
    {
      path: 'webhook.certificate',
      about:
        'Who makes the certificate of the webhook, which refuses duplicate ids and warns of faults at `kubectl apply`: `self-signed` (the operator), `cert-manager`, or `none` (there is no webhook, and the operator finds the same faults later).',
      default: settings.webhook ?? NO_WEBHOOK,
      schema: { enum: [...webhookCertificates, NO_WEBHOOK] },
    },
    {
      path: 'monitoring.enabled',
      about: 'Whether objects for the Prometheus operator and Grafana are installed. Their CRDs must exist.',
      default: settings.monitoring,
      schema: { type: 'boolean' },
    },
    {
      path: 'resources',
      about: 'Of each replica. The heap of the operator is a share of its memory limit.',
      default: settings.resources,
      schema: { type: 'object', properties: { requests: quantities, limits: quantities } },
    },
    {
      path: 'settings',
      about:
        'Settings of the operator by the names of their environment variables, such as `{LOG_LEVEL: debug}`; see [Settings of the operator](settings.md).',
      default: {},
      schema: {
        type: 'object',
        properties: Object.fromEntries(
          operatorSettings.map(({ env }) => [env, { type: ['string', 'number', 'boolean'] }]),
        ),
        additionalProperties: false,
      },
    },
    {
      path: 'env',
      about: 'Further environment variables of the container, as in a pod.',
      default: [],
      schema: { type: 'array', items: { type: 'object', properties: { name: text }, required: ['name'] } },
    },
    { path: 'podAnnotations', about: 'Annotations of the pods.', default: {}, schema: texts },
    { path: 'podLabels', about: 'Further labels of the pods.', default: {}, schema: texts },
    { path: 'priorityClassName', about: 'Priority class of the pods.', default: '', schema: text },
    { path: 'nodeSelector', about: 'Labels of the nodes for the pods.', default: {}, schema: texts },
    { path: 'tolerations', about: 'Tolerations of the pods.', default: [], schema: objects },
    {
      path: 'affinity',
      about: 'Affinity of the pods, beside their preferred spread over nodes and zones.',
      default: {},
      schema: anything,
    },
    {
      path: 'aggregateRoles',
      about:
        'Whether the roles `view`, `edit` and `admin` of the cluster contain the kinds of the operator. `false`: bind the ClusterRoles `hub-operator-view`, `-edit` and `-admin` yourself.',
      default: true,
      schema: { type: 'boolean' },
    },
    {
      path: 'crds.install',
      about:
        'Whether the CRDs belong to the release. They are upgraded with it, and are kept at `helm uninstall`, as all hubs and their volumes would go with them. `false`: install `crds.yaml` by other means, before each upgrade.',
      default: true,
      schema: { type: 'boolean' },
    },
  ];
}

/** `registry:5000/name:tag@sha256:…` */
function partsOf(image: string): { repository: string; tag: string; digest: string } {
  const [name = '', digest = ''] = image.split('@');
  const [, repository = name, tag = ''] = /^(.*):([^:/]*)$/.exec(name) ?? [];
  return { repository, tag, digest };
}
