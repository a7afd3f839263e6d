import type { Schema } from '../schema';
import { commonStatus } from '../status';

export const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...commonStatus,
    phase: {
      type: 'string',
      description:
        'Pending: not there yet. Running: the hub answers. Failed: it needs help. Unknown: it cannot be asked.',
      enum: ['Pending', 'Running', 'Failed', 'Unknown'],
    },
    version: { type: 'string', description: 'The version that runs, as the hub itself says.' },
    url: { type: 'string', description: 'Address under which the operator reaches the hub.' },
    bootstrap: {
      type: 'object',
      description: 'How far the first set-up is.',
      properties: {
        state: {
          type: 'string',
          description: 'The step that is worked on; Done when the token is there.',
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
        lastAttempt: { type: 'string', format: 'date-time', description: 'When a step was last tried.' },
        message: { type: 'string', description: 'What the last step said.' },
      },
    },
    selfUnbanCount: {
      type: 'integer',
      format: 'int64',
      description: 'How often the hub was restarted because it had banned the operator.',
    },
    lastSelfUnban: {
      type: 'string',
      format: 'date-time',
      description: 'When it was last restarted for that.',
    },
    banWindow: {
      type: 'object',
      description: 'The running window of ban recovery: at most 3 restarts in 30 minutes.',
      properties: {
        startedAt: { type: 'string', format: 'date-time', description: 'When the window began.' },
        restarts: { type: 'integer', format: 'int32', description: 'Restarts in this window.' },
      },
    },
    backup: {
      type: 'object',
      description: 'The hub’s automatic backups.',
      properties: {
        lastTime: { type: 'string', format: 'date-time', description: 'When the last one was attempted.' },
        lastResult: { type: 'string', description: 'How the last one ended.' },
        nextTime: { type: 'string', format: 'date-time', description: 'When the next one is due.' },
      },
    },
    configHash: {
      type: 'string',
      description: 'Hash of the configuration that the hub’s pod was started with.',
    },
    secretsHash: { type: 'string', description: 'Hash of the secrets that the hub’s pod was started with.' },
  },
} as const satisfies Schema;
