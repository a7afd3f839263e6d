import { childSpec, hubColumn, hubOfChild, readyColumn, talksToHub } from './child';
import { defineKind } from './kind';
import { objectNames } from './object-names';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { secretKeyRef, secretReferences } from './secret-reference';
import { commonStatus } from './status';

// The hub or the operator writes these itself.
const reservedFiles = [
  'configuration.yaml',
  'secrets.yaml',
  'automations.yaml',
  'scenes.yaml',
  'scripts.yaml',
  'known_devices.yaml',
  'ip_bans.yaml',
];

const spec = {
  type: 'object',
  description: 'The configuration of one hub.',
  properties: {
    ...childSpec,
    configuration: {
      type: 'string',
      description:
        'Content of the hub’s `configuration.yaml`. The includes of automations, scenes and scripts are added where ' +
        'they are missing; all else stays as it is written. Up to 512 Ki characters. Default: empty.',
      maxLength: 524288,
      default: '',
    },
    files: {
      type: 'object',
      description:
        'Further files for `!include`, by file name, such as `sensors.yaml`. A name has no folder, ends in `.yaml`, and ' +
        'is none that the hub or the operator writes itself (`configuration.yaml`, `secrets.yaml`, `automations.yaml`, ' +
        'names that begin with `hub-operator` …). At most 64.',
      additionalProperties: { type: 'string', maxLength: 524288 },
      maxProperties: 64,
      'x-kubernetes-validations': [
        {
          rule: "self.all(name, name.matches('^[A-Za-z0-9][A-Za-z0-9_.-]*[.]yaml$'))",
          message:
            'files: a name is made of letters, digits and _.-, begins with a letter or digit and ends in .yaml',
        },
        {
          rule: `self.all(name, !(name in ${JSON.stringify(reservedFiles)}) && !name.matches('^hub[-_]operator'))`,
          message:
            'files: this name belongs to the hub or to the operator (configuration.yaml, automations.yaml, …): choose another',
        },
      ],
    },
    reloadStrategy: {
      type: 'string',
      description:
        'How a change gets into the running hub. auto (default): sections that the hub can reload are reloaded, others ' +
        'restart it. hot-reload: only reload; what needs a restart is named in the condition `RestartPending`. ' +
        'restart: every change restarts it.',
      enum: ['auto', 'hot-reload', 'restart'],
      default: 'auto',
    },
    recorder: {
      type: 'object',
      description:
        'The hub’s history database. What stands here goes before the `recorder:` section of `configuration`.',
      properties: {
        enabled: {
          type: 'boolean',
          description: 'Whether the hub records history. Absent: as `configuration` says.',
        },
        database: {
          type: 'string',
          description:
            'URL of the database without a password, such as `sqlite:////config/history.db`. Absent: the hub’s own ' +
            'SQLite file. With a password, use `databaseSecretRef`.',
          minLength: 1,
          maxLength: 2048,
        },
        databaseSecretRef: secretKeyRef(
          'Secret with the URL of the database. It goes before `database`, and reaches the hub as a `!secret`.',
          'database_url',
        ),
        purgeKeepDays: {
          type: 'integer',
          description: 'How many days of history are kept. Absent: 10, the hub’s default.',
          minimum: 1,
          maximum: 36500,
        },
      },
    },
  },
  required: ['hubRef'],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...commonStatus,
    configHash: { type: 'string', description: 'Hash (`sha256:<hex>`) of the generated content.' },
    appliedHash: {
      type: 'string',
      description: 'Hash (`sha256:<hex>`) of the content that the hub was shown to run.',
    },
    changedSections: {
      type: 'array',
      description: 'Sections that differ between what runs and what is generated.',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'atomic',
    },
    lastReloadMethod: {
      type: 'string',
      description: 'How the last change got into the hub.',
      enum: ['hot-reload', 'restart', 'none'],
    },
    lastReloadTime: {
      type: 'string',
      format: 'date-time',
      description: 'When the last change was in the hub.',
    },
    httpSource: {
      type: 'string',
      description:
        'Where the `http:` section goes. Yaml: into the file. Api: into the hub’s own settings, as hubs since 2026.8 ' +
        'ignore it in the file.',
      enum: ['Yaml', 'Api'],
    },
  },
} as const satisfies Schema;

/**
 * Conditions: `Ready` (`ConfigurationLoaded`, `ConfigurationGenerated`, `InvalidConfiguration`, `CheckFailed`,
 * `ReloadFailed`, `RestartPending`, `KeyNotFound`), `HttpSettingsReady`.
 */
export const configuration = defineKind({
  kind: 'HubConfiguration',
  plural: 'hubconfigurations',
  singular: 'hubconfiguration',
  shortNames: ['hubcfg'],
  description:
    'HubConfiguration is the configuration.yaml of a hub. It becomes the ConfigMap <hub>-configuration, without which ' +
    'the Hub does not start. A configuration that the hub would not load is never left active.',
  spec,
  status,
  columns: [
    hubColumn,
    { name: 'Strategy', type: 'string', jsonPath: '.spec.reloadStrategy' },
    readyColumn,
    { name: 'Last Reload', type: 'date', jsonPath: '.status.lastReloadTime' },
  ],
  hubName: hubOfChild,
  // The generated Secret is looked at for the keys that `!secret` asks for.
  references: (resource) => [
    ...talksToHub(resource),
    ...secretReferences(
      objectNames(hubOfChild(resource)).secrets,
      resource.spec.recorder?.databaseSecretRef?.name,
    ),
  ],
  // A hub has one configuration.
  identity: () => 'configuration',
  owns: ['ConfigMap'],
  access: [
    { apiGroup: '', resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
    { apiGroup: '', resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
    // A changed annotation of the pod makes the kubelet refresh the mounted configuration at once.
    { apiGroup: '', resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch'] },
  ],
});

export type HubConfiguration = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubConfigurationSpec = Defaulted<typeof spec>;
export type HubConfigurationStatus = Infer<typeof status>;
