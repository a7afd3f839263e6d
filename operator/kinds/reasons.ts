import { API_GROUP } from './group';

/**
 * Every condition type and every reason that the operator writes, with its meaning and the action to take.
 * The types at the end of this file admit no other value, and docs/reference/conditions.md is generated from
 * these tables.
 */

/** Kinds that use a reason: one kind, a list of kinds, or a group. */
export type Kinds = 'all' | 'all but Hub' | readonly string[];

export interface Documented {
  readonly kinds: Kinds;
  readonly meaning: string;
  /** The action for the user. Absent if none is necessary. */
  readonly action?: string;
}

const entities = ['HubAutomation', 'HubScene', 'HubScript'] as const;
const registryTypes = ['Floor', 'Label', 'Area', 'Zone', 'Helper', 'Person'] as const;
const registries = registryTypes.map((type) => `Hub${type}` as const);
/** Kinds whose objects in the hub are also entities. */
const collections = ['HubZone', 'HubHelper', 'HubPerson'] as const;
/** Kinds of collections whose ids users choose. */
const ofChosenId = ['HubHelper', 'HubPerson'] as const;
/** Kinds that change settings of objects which integrations create. */
const borrowed = ['HubEntity', 'HubDevice'] as const;
/** Kinds with settings of an entity or a device. */
const withSettings = [...borrowed, ...entities, ...ofChosenId] as const;
const hub = ['Hub'] as const;
const integrations = ['HubIntegration'] as const;
const blueprints = ['HubBlueprint'] as const;
const repositories = ['HubCommunityRepository'] as const;
/** Kinds whose resources each have one object in the hub that users may also change there. */
const hubObjects = [...entities, ...registries, ...integrations, ...blueprints, ...borrowed] as const;

/** The condition type `<Type>Registered` of each registry. */
const registered = Object.fromEntries(
  registryTypes.map((type): [string, Documented] => {
    const meaning = `The hub has the ${type.toLowerCase()} as specified. While not Ready: it is being written.`;
    return [`${type}Registered`, { kinds: [`Hub${type}`], meaning }];
  }),
) as Readonly<Record<`${(typeof registryTypes)[number]}Registered`, Documented>>;

/** Reasons of the condition `Ready`. A change of `Ready` is also an event with this reason. */
export const readyReasons = {
  HubNotFound: {
    kinds: 'all but Hub',
    meaning: 'The Hub in `spec.hubRef` does not exist. The resource waits for it.',
    action: 'Create the Hub, or correct `spec.hubRef.name`.',
  },
  HubNotReady: {
    kinds: 'all but Hub',
    meaning: 'The hub cannot be used yet. The resource waits for it.',
    action: 'Read the conditions of the Hub.',
  },
  TokenNotAvailable: {
    kinds: 'all',
    meaning: 'The Secret with the API token does not exist or lacks its key. The resource waits for it.',
    action:
      'With bootstrap, wait: the operator creates the Secret. Without it, or for an external hub, create the Secret that the message names.',
  },
  TokenRejected: {
    kinds: 'all',
    meaning: 'The hub does not accept the API token.',
    action:
      'With bootstrap, wait: the operator replaces the token. Else store another token in the Secret, or, if a proxy or the user of the token was ' +
      'corrected, set `hub-operator.dev/reconcile-requested-at` on the Hub.',
  },
  HubUnreachable: {
    kinds: 'all',
    meaning: 'The hub does not answer. It is tried again every 10 s.',
    action: 'Read the pod’s log, or check the address of an external hub.',
  },
  HubBanned: {
    kinds: 'all',
    meaning: 'The hub has banned the operator’s address. The Hub restarts it without the ban.',
    action: 'Read `BanRecoveryFailed` of the Hub. Lift the ban of an external hub by hand.',
  },
  HubFailed: {
    kinds: ['Hub', 'HubConfiguration', ...hubObjects, ...repositories],
    meaning:
      'The hub failed at the request (HTTP 5xx), does not show what it has, or shows more than the operator keeps. The message contains its answer. It is retried every 30 s.',
    action: 'Read the hub’s log, or do what the message says.',
  },
  RejectedByHub: {
    kinds: ['Hub', 'HubConfiguration', ...hubObjects, ...repositories],
    meaning:
      'The hub rejected the object, or loaded it and disabled it as invalid. The message contains the hub’s reason.',
    action:
      'Correct the resource, or what it refers to in the hub: a blueprint, a device, an entity. It heals with the hub’s next reload.',
  },
  InvalidSpec: {
    kinds: 'all',
    meaning: 'The spec is invalid. The message names the field and the way out.',
    action: 'Correct the field.',
  },
  DuplicateId: {
    kinds: 'all',
    meaning:
      'An older resource owns the same object in the hub, or another Hub manages the same external hub already. This one takes over when that is deleted.',
    action: 'Delete one of the two, or change the id or name.',
  },
  NameConflict: {
    kinds: [
      'Hub',
      'HubConfiguration',
      'HubSecrets',
      'HubAutomation',
      'HubScene',
      'HubScript',
      ...collections,
      'HubEntity',
      ...repositories,
    ],
    meaning:
      'An object of that name exists in the cluster, or a file or folder on the hub’s volume, or a zone, a helper, a person, an automation, a scene or a script in the hub’s own YAML, or several helpers or persons have the name, or another entity has the id, and belongs to something else. It is not changed. Or an object of the operator is immutable again within an hour of its replacement.',
    action: 'Rename or delete one of the two, or exempt the object from the policy that makes it immutable.',
  },
  NotSupportedByExternalHub: {
    kinds: 'all',
    meaning: 'This needs files in the hub’s pod, which an external hub does not have.',
    action: 'Remove the resource or the field.',
  },
  NamespaceTerminating: {
    kinds: 'all',
    meaning: 'The namespace is being deleted. Nothing new is created in it.',
  },
  DryRun: {
    kinds: 'all',
    meaning: `The annotation \`${API_GROUP}/dry-run\` asks for no change. The message says what would be written.`,
    action: 'Remove the annotation to apply it.',
  },
  Suspended: {
    kinds: 'all',
    meaning: '`spec.suspend` was true before the resource was ever reconciled.',
    action: 'Set `spec.suspend` to false.',
  },
  FilesNotRead: {
    kinds: ['HubAutomation', 'HubScene', 'HubScript'],
    meaning:
      'The Hub has `delivery: File`, and its hub has not read the files with the definition yet: its pod gets them within a minute, or a configuration with their includes is on its way.',
    action: 'None. If it lasts, read the conditions of the HubConfiguration.',
  },
  DeliveryFull: {
    kinds: ['HubAutomation', 'HubScene', 'HubScript'],
    meaning:
      'The Hub has `delivery: File`, and the ConfigMaps of its definitions have no room for this one. What the hub has stays as it is.',
    action: 'Remove or shorten definitions, or set `spec.delivery` of the Hub to Api.',
  },
  ApiServerError: {
    kinds: 'all',
    meaning:
      'The API server has failed for more than a minute, or an admission webhook does not respond. It is retried, and a hub that runs is used meanwhile.',
    action: 'Read the message, and repair the webhook or the API server.',
  },
  Forbidden: {
    kinds: 'all',
    meaning:
      'The API server refuses a request of the operator, by a role, a quota or a policy. The message contains its answer. It is retried every 30 s.',
    action: 'Raise the quota, change the policy, or install the roles of this version of the operator.',
  },
  InternalError: {
    kinds: 'all',
    meaning: 'An unexpected failure. It is retried with exponential backoff.',
    action: 'Report it, with the operator’s log.',
  },
  HubRunning: { kinds: hub, meaning: 'The hub runs and accepts the operator’s token.' },
  WaitingForConfiguration: {
    kinds: hub,
    meaning: 'No HubConfiguration of this Hub has generated a configuration yet.',
    action: 'Create a HubConfiguration with `hubRef` to this Hub, or read its conditions.',
  },
  PodNotReady: {
    kinds: hub,
    meaning: 'The pod is not ready. The message contains the words of scheduler, kubelet or probe.',
    action: 'Follow the message.',
  },
  ApiNotLoaded: {
    kinds: hub,
    meaning: 'The hub is starting: its API or its integrations are not loaded yet.',
  },
  Bootstrapping: {
    kinds: hub,
    meaning: 'The first set-up of the hub is in progress, or cannot continue.',
    action: 'When it does not end, read `BootstrapReady`.',
  },
  RecoveryMode: {
    kinds: hub,
    meaning: 'The hub started in recovery mode, without its configuration.',
    action: 'Read the pod’s log, correct the HubConfiguration, delete the pod.',
  },
  SafeMode: {
    kinds: hub,
    meaning: 'The hub started in safe mode, without custom integrations.',
    action: 'Restart the hub.',
  },
  DowngradeRefused: {
    kinds: hub,
    meaning:
      '`spec.version` is lower than the version that ran on the volume. The database may not survive that.',
    action: `Set \`spec.version\` back, or restore a backup and set the annotation \`${API_GROUP}/allow-downgrade\` to that version.`,
  },
  ConfigurationLoaded: {
    kinds: ['HubConfiguration'],
    meaning: 'The hub has loaded the configuration: it was asked.',
  },
  ConfigurationGenerated: {
    kinds: ['HubConfiguration'],
    meaning: 'The ConfigMap is being generated, or is generated and the hub is loading it.',
  },
  InvalidConfiguration: {
    kinds: ['HubConfiguration'],
    meaning:
      '`spec.configuration` or one of the files of `spec.files` and `spec.filesFrom` is not valid YAML, too large, or costs too much to read. The last good configuration stays.',
    action: 'Correct the line that the message names, or do what it says.',
  },
  CheckFailed: {
    kinds: ['HubConfiguration'],
    meaning:
      'The hub rejects the configuration, would leave out a part of it, came up in its recovery mode with it, or its process ended again and again. The last good configuration stays or is loaded again, if there was one.',
    action:
      'Correct what the message reports. `status.appliedHash` is that of the configuration that runs. `hub-operator.dev/reconcile-requested-at` has it tried again.',
  },
  ReloadFailed: {
    kinds: ['HubConfiguration', ...blueprints],
    meaning:
      'The hub failed to reload a section, and `reloadStrategy: hot-reload` forbids a restart; or it has a blueprint and failed to reload what uses it, which is repeated after 8 minutes.',
    action: 'Read the message and the hub’s log, or restart the hub.',
  },
  RestartPending: {
    kinds: ['HubConfiguration', 'HubEntity', ...repositories],
    meaning:
      'Only a restart of the hub loads the sections in `status.changedSections`, files that come or go, or an integration of a community repository, or shows whether its volume has a folder, or sets up an entity that was enabled. The hub is being restarted, a mistake in the spec of its Hub holds the restart back, or `reloadStrategy: hot-reload` forbids it.',
    action:
      'With `hot-reload`: restart the hub, or set `reloadStrategy` to auto. With a mistake: correct what the conditions of the Hub name.',
  },
  SecretsGenerated: {
    kinds: ['HubSecrets'],
    meaning: 'The Secret with the hub’s `secrets.yaml` is generated.',
  },
  RepositoryNotAllowed: {
    kinds: repositories,
    meaning:
      'The setting `COMMUNITY_REPOSITORIES` of the operator does not list the repository. Nothing is downloaded; what was installed stays.',
    action: 'Ask who administers the operator, or delete the resource.',
  },
  SecretRefused: {
    kinds: ['Hub', 'HubConfiguration', 'HubSecrets', 'HubIntegration', ...repositories],
    meaning:
      'The spec names a Secret that no resource may name: one for the cluster itself (a token of a ServiceAccount, a release of Helm), one of the operator’s own, or one with the login, the token or the backup password of a Hub. Or the setting `REQUIRE_SECRET_LABEL` is on and the Secret lacks the label.',
    action: 'Store the value in a Secret of its own, or add the label that the message names.',
  },
  SecretNotFound: {
    kinds: ['HubConfiguration', 'HubSecrets', 'HubIntegration', ...repositories],
    meaning: 'A Secret that the spec names does not exist. What was generated or created before stays.',
    action: 'Create the Secret, or correct its name.',
  },
  KeyNotFound: {
    kinds: ['HubConfiguration', 'HubSecrets', 'HubIntegration', ...repositories],
    meaning:
      'A Secret lacks a key that the spec names, or the configuration uses a `!secret` that no HubSecrets of the hub gives. What was generated before stays.',
    action: 'Add the key that the message names.',
  },
  ConfigMapNotFound: {
    kinds: ['HubConfiguration', ...blueprints],
    meaning:
      'A ConfigMap of `spec.filesFrom`, or a key of its `items`, or that of `spec.configMapRef` does not exist. What was generated before stays.',
    action:
      'Create the ConfigMap or the key, correct its name, or set `optional: true` for files that may be absent. The configuration goes on as soon as it is there.',
  },
  BlueprintNotReady: {
    kinds: ['HubAutomation', 'HubScript'],
    meaning:
      'The HubBlueprint with the path of `spec.useBlueprint` is not Ready, or the hub has no such blueprint. What the hub has stays, and nothing is sent until the blueprint is there.',
    action:
      'Read the conditions of the HubBlueprint, create one, import the blueprint in the hub, or correct the path.',
  },
  AutomationGenerated: {
    kinds: ['HubAutomation'],
    meaning: 'The hub has loaded the automation. While not Ready: it is being written or loaded.',
  },
  SceneGenerated: {
    kinds: ['HubScene'],
    meaning: 'The hub has loaded the scene. While not Ready: it is being written or loaded.',
  },
  ScriptGenerated: {
    kinds: ['HubScript'],
    meaning: 'The hub has loaded the script. While not Ready: it is being written or loaded.',
  },
  ...registered,
  BlueprintLoaded: {
    kinds: blueprints,
    meaning:
      'The hub has the blueprint as specified. While not Ready: it is being written, or what uses it is being reloaded.',
  },
  UsersBroken: {
    kinds: blueprints,
    meaning:
      'The hub would disable automations or scripts that use the blueprint and run now: the message names them, with the reason. The blueprint is not written, and what the hub has stays.',
    action: 'Correct the blueprint, or the inputs of those that the message names.',
  },
  ComponentNotLoaded: {
    kinds: collections,
    meaning:
      'The hub runs and has not set up the integration that the object belongs to. The resource waits for it.',
    action:
      'Add the section that the message names to the configuration, or `default_config:`. If it is there, read the hub’s log: one wrong object keeps its whole integration from being set up.',
  },
  EntityNotLoaded: {
    kinds: collections,
    meaning:
      'The hub has the object, and its entity has no state: it was enabled or removed since the start of the hub, or the hub could not load it.',
    action: 'Restart the hub. If it lasts, read its log.',
  },
  EntityDisabled: {
    kinds: collections,
    meaning:
      'The hub has the object, and its entity is disabled in the hub, as of an object that was removed and made again within 30 days.',
    action: 'Enable the entity in the hub, and restart the hub.',
  },
  EntityIdTaken: {
    kinds: ofChosenId,
    meaning: 'The hub has the object, and its entity has another id, since another entity had that id first.',
    action:
      'Rename or remove the other entity, and rename this one in the hub; or refer to `status.entityId`, and rename this one to any other id.',
  },
  UserNotFound: {
    kinds: ['HubPerson'],
    meaning: 'The hub has no user with the login name in `spec.username`. The resource waits for one.',
    action: 'Add the user in the hub, in the settings of persons, or correct the name.',
  },
  FloorNotReady: {
    kinds: ['HubArea'],
    meaning: 'The floor in `spec.floorName` does not exist in the hub yet. The area waits for it.',
    action:
      'Create a HubFloor of that name, read the conditions of the one that exists, or correct the name.',
  },
  LabelNotReady: {
    kinds: ['HubArea'],
    meaning: 'A label in `spec.labels` does not exist in the hub yet. The area waits for it.',
    action:
      'Create a HubLabel of that name, read the conditions of the one that exists, or correct the name.',
  },
  EntityUpdated: {
    kinds: ['HubEntity'],
    meaning: 'The entity has these settings. While not Ready: they are being written.',
  },
  DeviceUpdated: {
    kinds: ['HubDevice'],
    meaning: 'The device has these settings. While not Ready: they are being written.',
  },
  EntityNotFound: {
    kinds: ['HubEntity'],
    meaning:
      'The hub has no entity that `spec.select` fits, or one without a unique id, for which it keeps no settings. The settings wait for it.',
    action:
      'Wait for its integration, correct `spec.select` in a new resource, or give an entity of the YAML a `unique_id`.',
  },
  DeviceNotFound: {
    kinds: ['HubDevice'],
    meaning: 'The hub has no device that `spec.select` fits. The settings wait for it.',
    action: 'Wait for its integration, or correct `spec.select` in a new resource.',
  },
  Ambiguous: {
    kinds: borrowed,
    meaning: 'Several entities or devices fit `spec.select`. The message names them. Nothing is written.',
    action: 'Create a resource with a narrower `spec.select`, for example with `integrationRef`.',
  },
  AreaNotFound: {
    kinds: withSettings,
    meaning:
      'The area in `spec.areaName` or `spec.entity.areaName` does not exist in the hub yet. The settings wait for it; an automation, a scene or a script is in use.',
    action: 'Create a HubArea of that name, read the conditions of the one that exists, or correct the name.',
  },
  LabelNotFound: {
    kinds: withSettings,
    meaning:
      'A label in `spec.labels` or `spec.entity.labels` does not exist in the hub yet. The settings wait for it; an automation, a scene or a script is in use.',
    action:
      'Create a HubLabel of that name, read the conditions of the one that exists, or correct the name.',
  },
  AreaBelongsToDevice: {
    kinds: ['HubEntity'],
    meaning:
      'An entity that has no name of its own beside that of its device has the area of the device. Nothing is written.',
    action: 'Set `areaName` in a HubDevice, or give the entity a `name`.',
  },
  DisabledByDevice: {
    kinds: borrowed,
    meaning:
      '`disabled: false` has no effect while the device, or the device that it is a part of, is disabled.',
    action: 'Enable the device.',
  },
  DisabledByEntry: {
    kinds: borrowed,
    meaning: '`disabled: false` has no effect while the config entry is disabled.',
    action: 'Enable the config entry, by `enabled: true` of its HubIntegration.',
  },
  NotLoaded: {
    kinds: ['HubConfiguration', ...entities, ...repositories],
    meaning:
      'The object is in the hub’s file, the section in its configuration, or the files of a community repository on its volume, and the hub has not loaded it. The message has the hub’s words. Or the configuration includes a folder that neither `spec.files` nor the hub’s volume has.',
    action:
      'Follow the message. For a folder: put its files into `spec.files`, or write it on the volume and delete the pod. For a section: correct what its integration needs, such as the database of the recorder, and restart the hub. For automations, scenes and scripts: include `automations.yaml`, `scenes.yaml` or `scripts.yaml` in `configuration.yaml`, as the message says, and restart the hub.',
  },
  Downloading: {
    kinds: repositories,
    meaning: 'The archive of the repository is being downloaded and checked.',
  },
  DownloadFailed: {
    kinds: repositories,
    meaning:
      'The code host does not answer, or has no such archive. It is tried again after a minute, or after 8 minutes if the host refused it.',
    action: 'Correct `spec.repository` or `spec.ref`, or the token of a private repository.',
  },
  InvalidRepository: {
    kinds: repositories,
    meaning:
      'The archive is broken or hostile, or the repository has no layout of `spec.category`. Nothing was installed; an earlier version stays.',
    action: 'Read the message; correct `spec.category` or `spec.ref`, or tell the author of the repository.',
  },
  DigestMismatch: {
    kinds: repositories,
    meaning: 'The files are not those of `spec.digest`. Nothing was installed; an earlier version stays.',
    action: 'Find out why the files differ, then correct `spec.digest` or `spec.ref`.',
  },
  Installing: {
    kinds: repositories,
    meaning: 'A pod puts the files onto the hub’s volume, or the hub is about to load them.',
  },
  InstallFailed: {
    kinds: repositories,
    meaning:
      'The pod could not put the files onto the hub’s volume, or was not admitted. It is tried again after 8 minutes.',
    action:
      'Read the message: the volume may be full or read-only, or a quota or a policy may refuse the pod.',
  },
  Removing: {
    kinds: 'all',
    meaning:
      'The resource is deleted, and what belongs to it is being removed: by the hub, or by a pod from the hub’s volume. The message says what it waits for.',
  },
  RepositoryInstalled: {
    kinds: repositories,
    meaning: 'The files are on the hub’s volume, and the hub shows that it has loaded them.',
  },
  ConfigFlowInProgress: {
    kinds: integrations,
    meaning: 'The forms of the integration are being answered, or those of another resource of this domain.',
  },
  ConfigFlowFailed: {
    kinds: integrations,
    meaning:
      'The integration did not accept the answers. The message has the step, the field, the hub’s key of the error and its text. ' +
      'A failed connection is tried again within minutes, rejected credentials only when they change.',
    action: 'Correct the answer that the message names.',
  },
  RecreateRequired: {
    kinds: integrations,
    meaning:
      'An answer changed that no form of the entry takes, and the entry is left alone. The message says what `reconfigure: Recreate` would cost.',
    action: 'Take the change back, or set `reconfigure` to Recreate.',
  },
  EntryLoaded: { kinds: integrations, meaning: 'The hub has loaded the config entry.' },
  EntryDisabled: {
    kinds: integrations,
    meaning: 'The config entry is disabled, as `spec.enabled: false` asks.',
  },
  EntryNotLoaded: {
    kinds: integrations,
    meaning: 'The hub is loading or unloading the config entry, or cannot unload or migrate it.',
    action: 'When it does not end, follow the message.',
  },
  SetupRetry: {
    kinds: integrations,
    meaning:
      'The hub could not set up the integration yet and tries again by itself. The message has its reason.',
    action: 'Check that the device or service can be reached.',
  },
  SetupError: {
    kinds: integrations,
    meaning: 'The hub could not set up the integration. The message has its reason.',
    action: 'Follow the message, or read the hub’s log.',
  },
  AuthNeeded: {
    kinds: integrations,
    meaning:
      'The hub asks for other credentials, and the present answers did not help, or it asks a person to confirm a step.',
    action: 'Store other credentials in the Secret, or answer the hub’s request in its UI.',
  },
  DriftDetected: {
    kinds: hubObjects,
    meaning:
      'The object was changed in the hub, and `driftPolicy: Warn` keeps the change; or a person disabled its entity there, which is left alone.',
    action:
      'Take the change over into the spec, or set `driftPolicy` to Correct. Enable a disabled entity in the hub.',
  },
} as const satisfies Record<string, Documented>;

/** Reasons that a child reports because of the state of its Hub. */
export const hubStateReasons = [
  'HubNotFound',
  'HubNotReady',
  'HubUnreachable',
  'HubBanned',
  'TokenNotAvailable',
  'TokenRejected',
] as const satisfies readonly (keyof typeof readyReasons)[];

/** Reasons of a change that is in progress. The user has nothing to do. */
export const progressReasons = [
  'Downloading',
  'Installing',
  'Removing',
  'ConfigFlowInProgress',
  'FilesNotRead',
] as const satisfies readonly (keyof typeof readyReasons)[];

export interface ConditionDescription {
  readonly kinds: Kinds;
  readonly meaning: string;
  readonly reasons: Readonly<Record<string, Omit<Documented, 'kinds'>>>;
}

/**
 * Condition types other than `Ready`, each with its reasons. `Reconciling` and `Stalled` have the reasons of
 * `Ready`.
 */
export const otherConditions = {
  Reconciling: {
    kinds: 'all',
    meaning: 'Something is in progress or waited for. Present only while True.',
    reasons: {},
  },
  Stalled: {
    kinds: 'all',
    meaning: 'Only you or the hub can help. Present only while True.',
    reasons: {},
  },
  Suspended: {
    kinds: 'all',
    meaning: '`spec.suspend` is true. Present only while True.',
    reasons: { Suspended: { meaning: 'Nothing is changed until `spec.suspend` is false.' } },
  },
  ReloadReady: {
    kinds: ['HubAutomation', 'HubScene'],
    meaning: 'The hub has reloaded the component after the last write.',
    reasons: {
      ReloadSuccessful: { meaning: 'The reload succeeded. The message has its ReloadID.' },
      ReloadNotNeeded: { meaning: 'The hub had the object as specified: nothing was written or reloaded.' },
      ReloadFailed: {
        meaning:
          'Three attempts failed. They are repeated later, and the hub loads the change at its next start.',
        action: 'Read the hub’s log.',
      },
      ComponentNotLoaded: {
        meaning: 'The hub has not loaded the component.',
        action: 'Add `automation:` or `scene:` to the configuration.',
      },
      ReloadDisabled: { meaning: '`spec.autoReload` is false.' },
    },
  },
  UsersReady: {
    kinds: blueprints,
    meaning:
      'The automations or scripts that use the blueprint are valid. Absent for the domain template, and where the hub does not tell its users.',
    reasons: {
      AllLoaded: { meaning: 'The hub has disabled none of them.' },
      UsersBroken: {
        meaning: 'The hub has disabled some as invalid. The message names them, with the words of the hub.',
        action: 'Correct their inputs, or the blueprint.',
      },
    },
  },
  ReferencesFound: {
    kinds: entities,
    meaning:
      'The hub has what the definition that it runs refers to by an id: entities, actions, devices, areas, floors and labels. It changes no other condition. Templates and disabled steps are not looked at.',
    reasons: {
      AllFound: { meaning: 'The hub has all of it.' },
      ReferencesMissing: {
        meaning:
          'The hub does not have what the message names, with the nearest name where there is one. `status.missingReferences` has more of it.',
        action: 'Correct the name, or add what is missing to the hub.',
      },
      HubNotReady: {
        meaning:
          'The hub has started less than five minutes ago, or has not set up all of its integrations. References are checked afterwards.',
      },
    },
  },
  BootstrapReady: {
    kinds: hub,
    meaning: 'The first set-up is done and the API token exists.',
    reasons: {
      Completed: { meaning: 'The set-up is done.' },
      InProgress: { meaning: 'The set-up is in progress; `status.bootstrap.state` has its step.' },
      MissingCredentials: {
        meaning: 'The Secret in `bootstrap.credentials` does not exist or lacks a key.',
        action: 'Create the Secret.',
      },
      LoginFailed: {
        meaning: 'The hub was onboarded with other credentials, or rejects the credentials of the Secret.',
        action: 'Store the credentials of an administrator of this hub in the Secret.',
      },
      SecretRefused: {
        meaning: '`bootstrap.credentials` names a Secret that no resource may name.',
        action: 'Store the credentials in a Secret of its own.',
      },
      Disabled: { meaning: '`bootstrap.enabled` is false.' },
    },
  },
  StorageReady: {
    kinds: hub,
    meaning: 'The volume claim is as the spec asks.',
    reasons: {
      Bound: { meaning: 'The claim is bound.' },
      Pending: {
        meaning:
          'The claim has no volume yet. With some storage classes it gets one when the pod is scheduled.',
      },
      Expanding: { meaning: 'The volume is being expanded.' },
      Mismatch: {
        meaning: 'The claim differs from the spec, or is being deleted. The hub keeps running.',
        action: 'Follow the message.',
      },
      NotChecked: {
        meaning:
          'The API server, a policy or a webhook does not let the claim be checked. A hub that runs keeps its claim and its image until it is.',
        action: 'Read the message.',
      },
    },
  },
  BackupConfigured: {
    kinds: hub,
    meaning: 'The hub’s backup schedule is as `spec.backup` asks. Absent without `spec.backup`.',
    reasons: {
      Applied: { meaning: 'The schedule is set.' },
      TokenNotAvailable: { meaning: 'There is no API token yet.' },
      Failed: {
        meaning: 'The hub rejected the schedule, or a Secret or a destination is missing.',
        action: 'Follow the message.',
      },
      LastBackupFailed: {
        meaning:
          'The schedule is set, and the last automatic backup failed. The message has the hub’s words.',
        action: 'Correct the cause, then make a backup with the automatic settings in the hub.',
      },
    },
  },
  OnlyOperator: {
    kinds: hub,
    meaning:
      'Whether one operator works on the Hub. The message has the namespace and the name of the lease of each.',
    reasons: {
      OneOperator: { meaning: 'No other operator has written to the Hub.' },
      SeveralOperators: {
        meaning: 'Operators with different leases work on the Hub, and undo each other’s work.',
        action: 'Uninstall all but one, or give them different namespaces.',
      },
    },
  },
  BanRecoveryFailed: {
    kinds: hub,
    meaning: 'The ban of the operator’s address cannot be lifted by restarts. Absent without a ban.',
    reasons: {
      Recovering: { meaning: 'The hub is being restarted without the ban.' },
      RestartLimitExceeded: {
        meaning: 'Three restarts in 30 minutes did not help.',
        action: 'Remove the operator’s address from `ip_bans.yaml` on the volume and restart the hub.',
      },
      OperatorAddressUnknown: {
        meaning: 'The operator does not know its own address: `POD_IP` is not set.',
        action: 'Set the environment variable `POD_IP` of the operator, as the shipped Deployment does.',
      },
      RestartDidNotHelp: {
        meaning: 'The hub sees the operator under another address than `POD_IP`.',
        action: 'Remove that address from `ip_bans.yaml` on the volume and restart the hub.',
      },
    },
  },
  CertManagerAvailable: {
    kinds: hub,
    meaning: 'cert-manager can issue the certificate. Absent without `ingress.tls.issuerRef`.',
    reasons: {
      CertManagerInstalled: { meaning: 'The Certificate is created.' },
      CertManagerNotInstalled: {
        meaning: 'The definitions of cert-manager are not installed. The hub is served over HTTP.',
        action: 'Install cert-manager.',
      },
    },
  },
  HttpSettingsReady: {
    kinds: ['HubConfiguration'],
    meaning:
      'The hub has the settings of the section `http:`, which it takes by its API since 2026.8. Absent without that section, unless the hub keeps settings of it.',
    reasons: {
      Applied: { meaning: 'The hub has them for good.' },
      Kept: {
        meaning:
          'The section is gone, and the hub keeps settings of its web server that are not its defaults: the message names them.',
        action: 'Write the section with the values that you want, or change them in the hub.',
      },
      InProgress: { meaning: 'The hub restarts to try them, or for other sections before they are sent.' },
      PendingChange: {
        meaning: 'Settings of another client are on trial in the hub. They are left alone.',
        action: 'Confirm or drop them in the hub, or wait: the hub reverts them after five minutes.',
      },
      Reverted: {
        meaning:
          'The hub could not be reached with them, or could not use them, and went back to the former ones.',
        action: 'Correct the section `http:`.',
      },
      Rejected: {
        meaning: 'The hub or the operator does not accept them. The message says why.',
        action: 'Correct the section `http:`.',
      },
      RestartPending: {
        meaning: 'The hub restarts for a change of them, and `reloadStrategy: hot-reload` forbids it.',
        action: 'Set `reloadStrategy` to auto.',
      },
    },
  },
  Exposed: {
    kinds: hub,
    meaning:
      'The Ingress is written or the HTTPRoute accepted, and the hub trusts its proxies. Whether a controller serves the Ingress is not known: the ' +
      'message has the address that one has reported. Absent without both.',
    reasons: {
      Exposed: { meaning: 'The hub accepts requests of its proxy. While Unknown: it was not asked yet.' },
      RouteNotAccepted: {
        meaning: 'A Gateway does not accept the HTTPRoute. While Unknown: it has not answered yet.',
        action: 'Read the message, and correct `spec.gateway` or the Gateway.',
      },
      CertificateNotReady: {
        meaning:
          'The certificate of the Ingress is not issued yet by cert-manager. While Unknown: it is issuing it, or has not answered yet.',
        action:
          'Read the message, and correct `spec.ingress` or the issuer. `kubectl describe certificate <hub>` says more.',
      },
      GatewayApiNotInstalled: {
        meaning: 'The Gateway API is not installed.',
        action: 'Install its definitions; the HTTPRoute is created then.',
      },
      TrustedProxiesMissing: {
        meaning: 'The hub rejects requests of its proxy.',
        action: 'Set `use_x_forwarded_for` and `trusted_proxies` under `http:` in the HubConfiguration.',
      },
    },
  },
} as const satisfies Record<string, ConditionDescription>;

/** Reasons of events that are not also reasons of `Ready`. */
export const eventReasons = {
  UnsupportedVersion: {
    kinds: hub,
    type: 'Warning',
    meaning:
      'The hub runs an older version of Home Assistant than the oldest one that is supported. It is looked after all the same.',
    action: 'Update the hub.',
  },
  ImmutableReplaced: {
    kinds: 'all',
    type: 'Warning',
    meaning:
      'A ConfigMap or Secret of the operator had `immutable: true`, so that nothing could be written. It was deleted and created again with its content.',
    action: 'Set `immutable` on no object of the operator. Where a policy does, exempt them.',
  },
  ReloadSuccessful: {
    kinds: ['HubAutomation', 'HubScene'],
    type: 'Normal',
    meaning:
      'The hub has reloaded after a write. The message has the ReloadID, which is in the operator’s log, too.',
  },
  ReloadFailed: {
    kinds: ['HubAutomation', 'HubScene'],
    type: 'Warning',
    meaning: 'The hub could not be reloaded after a write. It loads the change at its next start.',
    action: 'Read the hub’s log.',
  },
  Adopted: {
    kinds: hubObjects,
    type: 'Warning',
    meaning: 'The resource took over an object that existed in the hub before.',
  },
  TakenOver: {
    kinds: hubObjects,
    type: 'Normal',
    meaning:
      'The resource took over the object of a deleted one, as after a rename in Git. The object was not removed from the hub.',
  },
  DriftDetected: {
    kinds: hubObjects,
    type: 'Warning',
    meaning: 'The object was changed in the hub. The change is reverted, or kept with `driftPolicy: Warn`.',
  },
  CleanupSkipped: {
    kinds: [...hubObjects, ...repositories],
    type: 'Warning',
    meaning: `The object of a deleted resource, or under a former id, remains in the hub, because the hub did not answer, \`${API_GROUP}/dry-run\` is set, it was adopted, or the Hub is gone or going while its hub or its volume stays.`,
    action: 'Delete the object in the hub if it is not needed.',
  },
  RemovedInUse: {
    kinds: collections,
    type: 'Warning',
    meaning:
      'The object of a deleted resource was removed from the hub, and the objects that the message names still refer to its entity.',
    action: 'Change what refers to it.',
  },
  CleanupFailed: {
    kinds: [...hubObjects, ...repositories],
    type: 'Warning',
    meaning: 'The object of a deleted resource could not be removed from the hub.',
    action: 'Delete the object in the hub.',
  },
  ReferencesMissing: {
    kinds: entities,
    type: 'Normal',
    meaning:
      'The hub does not have what the definition refers to, and had it before, or the definition has changed.',
    action: 'Read the condition `ReferencesFound`.',
  },
  EntryRecreated: {
    kinds: integrations,
    type: 'Warning',
    meaning: 'The new answers were accepted, and the config entry is replaced by another one.',
  },
  HubRestarting: {
    kinds: hub,
    type: 'Normal',
    meaning:
      'The pod of the hub is replaced. The message names the cause: a changed spec, configuration, Secret or community integration, another version of the operator, a configuration that the hub has to read, or its recovery mode.',
  },
  SelfUnban: {
    kinds: hub,
    type: 'Warning',
    meaning: 'The hub has banned the operator’s address and is restarted for that.',
  },
  BanRecoveryFailed: {
    kinds: hub,
    type: 'Warning',
    meaning: 'There are no more restarts for a ban.',
    action: 'Read the condition of that name.',
  },
  BackupNotConfigured: {
    kinds: hub,
    type: 'Warning',
    meaning: 'The hub runs, and its backups are not set up as `spec.backup` says. The message says why.',
    action: 'Read the condition `BackupConfigured`.',
  },
  BackupFailed: {
    kinds: hub,
    type: 'Warning',
    meaning: 'The last automatic backup failed. The message has the hub’s words.',
    action: 'Read the condition `BackupConfigured`.',
  },
  BackupSettingsCleared: {
    kinds: hub,
    type: 'Normal',
    meaning:
      'The settings of automatic backups named destinations, add-ons or folders of the Supervisor, as after the restore of a backup of Home Assistant OS. A hub in a container fails at each such backup, so they were removed.',
  },
  StorageMismatch: {
    kinds: hub,
    type: 'Warning',
    meaning:
      'The hub runs, and its volume is not as `spec.storage` says, or is about to go. The message says why.',
    action: 'Read the condition `StorageReady`.',
  },
  ClaimKept: {
    kinds: hub,
    type: 'Warning',
    meaning:
      'The Hub was deleted, and its volume stays although `storage.retain` is false: the claim was retained before, by this Hub or a former one of its name.',
    action: 'Run the command in the message if the data is not needed.',
  },
  LeftBehind: {
    kinds: hub,
    type: 'Warning',
    meaning:
      'The hub has automations, scenes or scripts that the operator created and that no resource describes, as after a removal that was skipped or the restore of an older backup.',
    action:
      'Apply their resources again, or name them in the annotation `hub-operator.dev/remove-left-behind` of the Hub.',
  },
  CertManagerUnavailable: {
    kinds: hub,
    type: 'Warning',
    meaning: 'TLS needs cert-manager, which is not installed.',
    action: 'Install cert-manager.',
  },
  RecorderOverridden: {
    kinds: ['HubConfiguration'],
    type: 'Warning',
    meaning:
      'A part of `spec.recorder` has no effect: the section `recorder:` in `spec.configuration`, or `databaseSecretRef`, overrides it.',
    action: 'Keep the setting that the message names in one of the two.',
  },
  PasswordLoginMissing: {
    kinds: ['HubConfiguration'],
    type: 'Warning',
    meaning:
      '`homeassistant.auth_providers` in `spec.configuration` lacks `type: homeassistant`: the operator cannot log in to the hub when it needs another token.',
    action: 'Add `- type: homeassistant` to the providers.',
  },
  CoreConfigInYaml: {
    kinds: hub,
    type: 'Warning',
    meaning: '`homeassistant:` in the HubConfiguration overrides `bootstrap.location`.',
    action: 'Keep these settings in one of the two.',
  },
} as const satisfies Record<string, Documented & { readonly type: 'Normal' | 'Warning' }>;

type OtherConditions = typeof otherConditions;

/** Type of a condition that the operator writes. */
export type ConditionType = 'Ready' | keyof OtherConditions;

/** Reason of the condition `Ready`, and so of the outcome of a reconcile. */
export type ReadyReason = keyof typeof readyReasons;

/** Reason of any condition. */
export type Reason =
  | ReadyReason
  | { [Type in keyof OtherConditions]: keyof OtherConditions[Type]['reasons'] }[keyof OtherConditions];

/** Reason of an event: that of a changed `Ready`, or one of {@link eventReasons}. */
export type EventReason = ReadyReason | keyof typeof eventReasons;
