import { WEBHOOK } from '../../operator/kinds/object-names';
import { settingsTable } from '../../operator/process/settings';
import { version } from '../../package.json';
import { CONTAINER_SECURITY, POD_SECURITY } from '../deployment';
import { SCRAPE_INTERVAL } from '../monitoring/objects';
import { NO_WEBHOOK, type SynthSettings, webhookCertificates } from '../settings';
import { TIMEOUT } from '../webhook';

/** The keywords of JSON Schema that the values use. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ValueSchema;
  readonly propertyNames?: { readonly not: ValueSchema };
  readonly not?: ValueSchema;
  readonly maximum?: number;
}

export interface Value {
  /** Path of the value, such as `image.tag`. */
  readonly path: string;
  /** Description of the value in Markdown: a sentence or more. */
  readonly about: string;
  readonly default: unknown;
  readonly schema: ValueSchema;
}

const text: ValueSchema = { type: 'string' };
const texts: ValueSchema = { type: 'object', additionalProperties: { type: 'string' } };
const anything: ValueSchema = { type: 'object' };
const objects: ValueSchema = { type: 'array', items: anything };
const named: ValueSchema = {
  type: 'array',
  items: { type: 'object', properties: { name: text }, required: ['name'] },
};
const quantities: ValueSchema = { type: 'object', additionalProperties: { type: ['string', 'number'] } };

const flag: ValueSchema = { type: 'boolean' };
const port: ValueSchema = { type: 'integer', minimum: 1, maximum: 65_535 };

/**
 * Additional labels. The chart's own labels are excluded, because tools other than Helm refuse a mapping that
 * has a key twice.
 */
const labels: ValueSchema = {
  ...texts,
  propertyNames: {
    not: {
      type: 'string',
      pattern: '^(app\\.kubernetes\\.io/(name|instance|version|managed-by)|helm\\.sh/chart)$',
    },
  },
};

/** Environment variables of the operator that the Deployment itself sets. */
const notForValues = /^(POD_|HTTP_|WEBHOOK|WATCH_NAMESPACES)/;
const operatorSettings = settingsTable().filter(({ env }) => !notForValues.test(env));

/** Returns the values of the chart. Their defaults are the settings of the synth. */
// eslint-disable-next-line max-lines-per-function -- one table: the values of the chart
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
      schema: named,
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
      path: 'webhook.port',
      about:
        'Port of the pods that the API server calls. Where its network reaches only some ports of nodes and pods, as in private clusters of GKE, name one of those, such as 10250.',
      default: WEBHOOK.port,
      schema: port,
    },
    {
      path: 'webhook.timeoutSeconds',
      about: 'How much longer a write of a resource takes while the operator cannot be reached.',
      default: TIMEOUT,
      schema: { type: 'integer', minimum: 1, maximum: 30 },
    },
    {
      path: 'monitoring.enabled',
      about: 'Whether objects for the Prometheus operator and Grafana are installed. Their CRDs must exist.',
      default: settings.monitoring,
      schema: flag,
    },
    {
      path: 'monitoring.labels',
      about:
        'Further labels of these objects, by which a Prometheus selects them: `{release: kube-prometheus-stack}` for the chart of this name with its default values.',
      default: {},
      schema: labels,
    },
    {
      path: 'monitoring.namespace',
      about: 'Namespace of these objects. Empty: that of the release.',
      default: '',
      schema: text,
    },
    {
      path: 'monitoring.interval',
      about: 'How often Prometheus asks for the metrics.',
      default: SCRAPE_INTERVAL,
      schema: { type: 'string', pattern: '^([0-9]+(ms|s|m|h))+$' },
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
      about:
        'Further environment variables of the container, as in a pod, such as `HTTPS_PROXY`: see [Proxy and private CA](../how-to/proxy.md). Those of the operator are in `settings`; the chart sets the others, and they are refused here.',
      default: [],
      schema: {
        type: 'array',
        items: {
          type: 'object',
          // Names that the chart sets are excluded: Helm does not merge a list that has a name twice, and
          // server-side apply refuses it.
          properties: {
            name: { type: 'string', not: { enum: settingsTable().map(({ env }) => env) } },
          },
          required: ['name'],
        },
      },
    },
    {
      path: 'extraVolumes',
      about: 'Volumes of the pods, as in a pod.',
      default: [],
      schema: named,
    },
    {
      path: 'extraVolumeMounts',
      about: 'Where the container has them.',
      default: [],
      schema: named,
    },
    {
      path: 'serviceAccount.create',
      about: 'Whether the release makes the ServiceAccount.',
      default: true,
      schema: flag,
    },
    {
      path: 'serviceAccount.name',
      about: 'Its name. Empty: that of the other objects. With `create: false`, the one that exists.',
      default: '',
      schema: text,
    },
    {
      path: 'serviceAccount.annotations',
      about: 'Its annotations.',
      default: {},
      schema: texts,
    },
    {
      path: 'podSecurityContext',
      about:
        'Security context of the pods. A field is left out with the value `null`. No user is set: the image has one, and OpenShift gives its own.',
      default: POD_SECURITY,
      schema: anything,
    },
    {
      path: 'securityContext',
      about: 'That of the container; the same holds.',
      default: CONTAINER_SECURITY,
      schema: anything,
    },
    { path: 'podAnnotations', about: 'Annotations of the pods.', default: {}, schema: texts },
    { path: 'podLabels', about: 'Further labels of the pods.', default: {}, schema: labels },
    {
      path: 'commonLabels',
      about: 'Further labels of all objects but the CRDs.',
      default: {},
      schema: labels,
    },
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
      schema: flag,
    },
    {
      path: 'admissionPolicy.enabled',
      about:
        'Whether a ValidatingAdmissionPolicy bounds what the account of the operator may write: see [Security](../explanation/security.md).',
      default: true,
      schema: flag,
    },
    {
      path: 'networkPolicy.enabled',
      about: 'Whether a NetworkPolicy admits connections to the pods at the ports that they serve only.',
      default: true,
      schema: flag,
    },
    {
      path: 'podDisruptionBudget.enabled',
      about: 'Whether a PodDisruptionBudget has replicas evicted one at a time.',
      default: true,
      schema: flag,
    },
    {
      path: 'nameOverride',
      about:
        'In place of `hub-operator` in the names of the objects, which are the name of the release if that contains it, else `<release>-hub-operator`.',
      default: '',
      schema: text,
    },
    { path: 'fullnameOverride', about: 'The name of the objects.', default: '', schema: text },
    {
      path: 'crds.install',
      about:
        'Whether the CRDs belong to the release. They are upgraded with it, and are kept at `helm uninstall`, as all hubs and their volumes would go with them. `false`: install `crds.yaml` by other means, before each upgrade. Of several releases one has them.',
      default: true,
      schema: flag,
    },
  ];
}

/** Splits an image such as `registry:5000/name:tag@sha256:…`. */
function partsOf(image: string): { repository: string; tag: string; digest: string } {
  const [name = '', digest = ''] = image.split('@');
  const [, repository = name, tag = ''] = /^(.*):([^:/]*)$/.exec(name) ?? [];
  return { repository, tag, digest };
}
