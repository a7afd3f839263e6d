import { int32, moment, text } from '../fields';
import { statusWith } from '../status';

export const status = statusWith({
  phase: {
    type: 'string',
    description:
      'Pending: not running yet. Running: the hub can be used. Failed: it needs help. Unknown: it does not answer.',
    enum: ['Pending', 'Running', 'Failed', 'Unknown'],
  },
  version: text('Running version, as reported by the hub.'),
  volumeID: text(
    'Identifies the volume of the hub: UID of the PersistentVolumeClaim; of an external hub, id of its owner’s account, which its token reads. Of two external Hubs with the same one, the older has the hub.',
  ),
  url: text(
    'Address at which the operator reaches the hub. Inside the cluster: use `kubectl port-forward` from elsewhere.',
  ),
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
      lastAttempt: moment('When a step was last attempted.'),
      message: text('Message of the last step.'),
      rejectedCredentials: text(
        'Keyed digest of the owner’s credentials that the hub rejected. The same are not sent again.',
      ),
    },
  },
  selfUnbanCount: {
    type: 'integer',
    format: 'int64',
    description: 'Number of restarts because the hub had banned the operator.',
  },
  lastSelfUnban: moment('When it was last restarted because of a ban.'),
  banWindow: {
    type: 'object',
    description: 'Current window of ban recovery: at most 3 restarts in 30 minutes.',
    properties: {
      startedAt: moment('When the window began.'),
      restarts: int32('Restarts in this window.'),
    },
  },
  backup: {
    type: 'object',
    description: 'The hub’s automatic backups.',
    properties: {
      lastTime: moment('When the last backup was attempted.'),
      lastResult: text('Result of the last backup.'),
      nextTime: moment('When the next backup is due.'),
    },
  },
  configHash: text(
    'Hash of the configuration that the pod is to start with. Where the pod fell back to the last good one, `CheckFailed` ' +
      'of the HubConfiguration says so.',
  ),
  secretsHash: text('Hash of the secrets that the pod is to start with.'),
  delivery: {
    type: 'object',
    description: 'How automations, scenes and scripts are delivered; absent: all by the hub’s API.',
    properties: {
      files: int32('Number of resources whose object is delivered as a file.'),
      api: int32('Number of resources whose object is in the hub’s own files, which its API writes.'),
      configMaps: int32('Number of ConfigMaps with definitions.'),
      bytes: { type: 'integer', format: 'int64', description: 'Size of all definitions in them.' },
      largestBytes: {
        type: 'integer',
        format: 'int64',
        description: 'Size of the definitions in the fullest ConfigMap.',
      },
    },
  },
  restartHeld: text(
    'Reason for which the operator does not update the pod now, so that no restart begins; absent while it can. ' +
      '`Ready` has the message.',
  ),
});
