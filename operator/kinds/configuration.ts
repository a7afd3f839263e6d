import { childSpec, defineChild, hubAndToken, hubOfChild } from './child';
import { wholeMap } from './entity';
import {
  atomicTexts,
  flag,
  flagWithDefault,
  moment,
  nonEmptyText,
  objectName,
  text,
  textUpTo,
} from './fields';
import { celIsPath, celIsFree, FOLDER_PATTERN, PATH_RULE, RESERVED_RULE } from './file-paths';
import { objectNames } from './object-names';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { secretKeyRef, secretReferences } from './secret-reference';
import { statusWith } from './status';

const spec = {
  type: 'object',
  description: 'Desired configuration of one hub.',
  properties: {
    ...childSpec,
    configuration: {
      type: 'string',
      description:
        'Content of the hub’s `configuration.yaml`. It is kept as written; the operator adds the includes of automations.yaml, ' +
        'scenes.yaml and scripts.yaml where they are missing, also beside sections of your own, and one script without ' +
        'actions, by which it sees what the hub has loaded. `!secret` takes the keys of HubSecrets; a key that none of them ' +
        'has holds the configuration back (`KeyNotFound`). Keys of `homeassistant:` are never added. Up to 512 Ki ' +
        'characters. Default: empty.',
      maxLength: 524288,
      default: '',
    },
    files: {
      ...wholeMap,
      description:
        'Further files for `!include`, `!include_dir_named` and their like, by path, such as `sensors.yaml` or `packages/hall.yaml`: ' +
        'up to three folders, the first without a dot in its name, and the ending `.yaml`, `.yml`, `.jinja`, `.txt` or `.json`. Blueprints and custom templates are files as ' +
        'well. Names that the hub or the operator writes are reserved (`configuration.yaml`, `secrets.yaml`, ' +
        '`automations.yaml`, names that begin with `hub-operator` …). At most 200, and about 1 MiB together with `configuration`, which is the size of one object; `filesFrom` takes more. Default: none.',
      additionalProperties: { type: 'string', maxLength: 524288 },
      maxProperties: 200,
      'x-kubernetes-validations': [
        {
          rule: `self.all(name, name.matches('^[A-Za-z0-9][A-Za-z0-9_.-]*[.]yaml$')) || self.all(name, ${celIsPath('name')})`,
          message: `files: ${PATH_RULE}`,
        },
        {
          rule: `self.all(name, ${celIsFree('name')})`,
          message: `files: ${RESERVED_RULE}`,
        },
      ],
    },
    filesFrom: {
      type: 'array',
      description:
        'Beta: further files from ConfigMaps in the namespace of this resource, such as the folders of packages that Kustomize makes. Each key of a ' +
        'ConfigMap becomes a file, under the rules of `files`. Of two files of one path that of the later entry counts, and that of `files` over all. ' +
        'A ConfigMap that does not exist holds the configuration back (`ConfigMapNotFound`); its changes are loaded like those of `files`. ' +
        'At most 500 files in all, and 3 MiB together with `configuration`; what is too large for one ConfigMap comes to the hub in up to eight more.',
      maxItems: 32,
      items: {
        type: 'object',
        properties: {
          configMapRef: {
            type: 'object',
            description: 'The ConfigMap.',
            properties: { name: objectName('Name of the ConfigMap, in the namespace of this resource.') },
            required: ['name'],
          },
          folder: {
            ...textUpTo(
              120,
              'Folder of the files in the hub’s directory, such as `packages` or `packages/ground floor`. Default: empty, the directory itself.',
            ),
            pattern: FOLDER_PATTERN,
            default: '',
          },
          items: {
            type: 'array',
            description:
              'The keys that become files, each with its path. Absent: all keys, with their names.',
            minItems: 1,
            maxItems: 200,
            items: {
              type: 'object',
              properties: {
                key: objectName('Key inside the ConfigMap.'),
                path: nonEmptyText(120, 'Path of the file, within `folder`.'),
              },
              required: ['key', 'path'],
            },
          },
          optional: flagWithDefault(
            false,
            'True: without the ConfigMap, or without a key of `items`, the configuration goes on without these files. Default false.',
          ),
        },
        required: ['configMapRef'],
      },
    },
    reloadStrategy: {
      type: 'string',
      description:
        'How a change is loaded by the running hub, after its own check has accepted it. auto (default): sections that the ' +
        'hub can reload are reloaded, others restart it. hot-reload: only reload; sections that need a restart are named in ' +
        '`RestartPending`. restart: every change restarts it.',
      enum: ['auto', 'hot-reload', 'restart'],
      default: 'auto',
    },
    recorder: {
      type: 'object',
      description:
        'The hub’s history database. What the section `recorder:` of `configuration` says is kept, and reported by an event ' +
        '(`RecorderOverridden`); what it lacks is added. Absent: as `configuration` says.',
      properties: {
        enabled: flag(
          'True, or absent beside another field: the hub records history. False: no recorder is added; the hub still ' +
            'records if `configuration` has `recorder:`, `history:`, `logbook:` or `default_config:`.',
        ),
        database: nonEmptyText(
          2048,
          'URL of the database without a password, such as `sqlite:////config/history.db`. Absent: the hub’s own ' +
            'SQLite file. With a password, use `databaseSecretRef`.',
        ),
        databaseSecretRef: secretKeyRef(
          'Secret with the URL of the database, such as `postgresql://<user>:<password>@<host>/<database>`. It overrides `database`, ' +
            'and is passed to the hub as a `!secret`, not in the ConfigMap. The hub’s image must have the driver.',
          'database_url',
        ),
        purgeKeepDays: {
          type: 'integer',
          description: 'Number of days of history that are kept. Absent: 10, the default of the hub.',
          minimum: 1,
          maximum: 36500,
        },
      },
    },
  },
  required: ['hubRef'],
} as const satisfies Schema;

const status = statusWith({
  configHash: text('Hash (`sha256:<hex>`) of the generated content.'),
  appliedHash: text('Hash (`sha256:<hex>`) of the content that the hub has loaded.'),
  changedSections: atomicTexts('Sections that differ between the loaded and the generated content.'),
  lastReloadMethod: {
    type: 'string',
    description: 'How the last change was loaded.',
    enum: ['hot-reload', 'restart', 'none'],
  },
  lastReloadTime: moment('When the last change was loaded.'),
  httpSource: {
    type: 'string',
    description:
      'Destination of the `http:` section. Yaml: the file. Api: the settings of the hub, because hubs since 2026.8 ' +
      'ignore it in the file.',
    enum: ['Yaml', 'Api'],
  },
});

export const configuration = defineChild({
  kind: 'HubConfiguration',
  rank: 1,
  shortNames: ['hubcfg'],
  description:
    'HubConfiguration is the configuration.yaml of a Home Assistant instance (the hub). It becomes the ConfigMap ' +
    '`<hub>-configuration`, which the Hub needs to start. A configuration that the hub would not load does not become active. ' +
    'A section `http:` becomes the settings of the web server by the API of hubs since 2026.8.',
  spec,
  status,
  columns: [
    { name: 'Strategy', type: 'string', jsonPath: '.spec.reloadStrategy' },
    { name: 'Last Reload', type: 'date', jsonPath: '.status.lastReloadTime' },
  ],
  // The generated Secret is checked for the keys that `!secret` refers to.
  references: (resource) => [
    ...hubAndToken(resource),
    { kind: 'HubSecrets', name: `secrets of ${hubOfChild(resource)}` },
    ...(resource.spec.filesFrom ?? []).map(({ configMapRef }) => ({
      kind: 'ConfigMap',
      name: configMapRef.name,
    })),
    // The parts of a large configuration are owned by the Hub.
    ...objectNames(hubOfChild(resource))
      .configurationParts()
      .map((name) => ({ kind: 'ConfigMap', name })),
    ...secretReferences(
      objectNames(hubOfChild(resource)).secrets,
      resource.spec.recorder?.databaseSecretRef?.name,
    ),
  ],
  validated: true,
  // A hub has one HubConfiguration.
  identity: (resource) => `configuration of ${hubOfChild(resource)}`,
  owns: ['ConfigMap', 'Secret'],
  access: [
    { apiGroup: '', resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
    // Without a HubSecrets, the HubConfiguration generates the Secret that passes the URL of the recorder's
    // database to the hub.
    { apiGroup: '', resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    { apiGroup: '', resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
    { apiGroup: 'apps', resources: ['statefulsets'], verbs: ['get', 'list', 'watch'] },
  ],
});

export type HubConfiguration = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubConfigurationSpec = Defaulted<typeof spec>;
