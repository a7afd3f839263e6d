import { statusWith } from '../status';

export const status = statusWith({
  phase: {
    type: 'string',
    description:
      'Pending: not running yet. Running: the hub can be used. Failed: it needs help. Unknown: it does not answer.',
    enum: ['Pending', 'Running', 'Failed', 'Unknown'],
  },
  version: { type: 'string', description: 'Running version, as reported by the hub.' },
  volumeID: {
    type: 'string',
    description:
      'Identifies the volume of the hub: UID of the PersistentVolumeClaim; of an external hub, id of its owner’s account, which its token reads. Of two external Hubs with the same one, the older has the hub.',
  },
  url: {
    type: 'string',
    description:
      'Address at which the operator reaches the hub. Inside the cluster: use `kubectl port-forward` from elsewhere.',
  },
  bootstrap: {
    type: 'object',
    description: 'Progress of the first set-up.',
    properties: {
      state: {
        type: 'string',
        description: 'Current step; Done when the API token exists.',
        enum: [
          'WaitForHealth',
          'WaitForAPIReady',
          'CheckOnboarding',
          'PerformOnboarding',
          'CreateUser',
          'SetCoreConfig',
          'SetAnalytics',
          'SetIntegration',
          'CreateAPIToken',
          'Done',
        ],
      },
      lastAttempt: { type: 'string', format: 'date-time', description: 'When a step was last attempted.' },
      message: { type: 'string', description: 'Message of the last step.' },
      rejectedCredentials: {
        type: 'string',
        description:
          'Keyed digest of the owner’s credentials that the hub rejected. The same are not sent again.',
      },
    },
  },
  selfUnbanCount: {
    type: 'integer',
    format: 'int64',
    description: 'Number of restarts because the hub had banned the operator.',
  },
  lastSelfUnban: {
    type: 'string',
    format: 'date-time',
    description: 'When it was last restarted because of a ban.',
  },
  banWindow: {
    type: 'object',
    description: 'Current window of ban recovery: at most 3 restarts in 30 minutes.',
    properties: {
      startedAt: { type: 'string', format: 'date-time', description: 'When the window began.' },
      restarts: { type: 'integer', format: 'int32', description: 'Restarts in this window.' },
    },
  },
  backup: {
    type: 'object',
    description: 'The hub’s automatic backups.',
    properties: {
      lastTime: { type: 'string', format: 'date-time', description: 'When the last backup was attempted.' },
      lastResult: { type: 'string', description: 'Result of the last backup.' },
      nextTime: { type: 'string', format: 'date-time', description: 'When the next backup is due.' },
    },
  },
  configHash: {
    type: 'string',
    description:
      'Hash of the configuration that the pod is to start with. Where the pod fell back to the last good one, `CheckFailed` ' +
      'of the HubConfiguration says so.',
  },
  secretsHash: { type: 'string', description: 'Hash of the secrets that the pod is to start with.' },
  delivery: {
    type: 'object',
    description: 'How automations, scenes and scripts are delivered; absent: all by the hub’s API.',
    properties: {
      files: {
        type: 'integer',
        format: 'int32',
        description: 'Number of resources whose object is delivered as a file.',
      },
      api: {
        type: 'integer',
        format: 'int32',
        description: 'Number of resources whose object is in the hub’s own files, which its API writes.',
      },
      configMaps: { type: 'integer', format: 'int32', description: 'Number of ConfigMaps with definitions.' },
      bytes: { type: 'integer', format: 'int64', description: 'Size of all definitions in them.' },
      largestBytes: {
        type: 'integer',
        format: 'int64',
        description: 'Size of the definitions in the fullest ConfigMap.',
      },
    },
  },
  restartHeld: {
    type: 'string',
    description:
      'Reason for which the operator does not update the pod now, so that no restart begins; absent while it can. ' +
      '`Ready` has the message.',
  },
});
