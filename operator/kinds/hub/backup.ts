import { flagWithDefault, int32Within, objectName } from '../fields';
import type { Field } from '../schema';
import { secretKeyRef } from '../secret-reference';

export const backup = {
  type: 'object',
  description: 'Automatic backups of the hub. Absent: the hub’s own schedule is not changed.',
  properties: {
    recurrence: {
      type: 'string',
      description:
        'How often: daily (default), on one day of the week (mon … sun), or never, which turns them off.',
      enum: ['daily', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun', 'never'],
      default: 'daily',
    },
    time: {
      type: 'string',
      description:
        'Time of day in the hub’s time zone, HH:MM:SS in quotes, such as "03:30:00". Absent: the hub chooses a time before 6:00.',
      pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$',
    },
    retentionCopies: int32Within(1, 10000, 'Number of backups that are kept. Absent: no limit.'),
    retentionDays: {
      type: 'integer',
      format: 'int32',
      minimum: 1,
      maximum: 36500,
      description: 'Number of days that a backup is kept. Absent: no limit.',
    },
    includeDatabase: flagWithDefault(true, 'Whether backups include the history database. Default true.'),
    agents: {
      type: 'array',
      description:
        'Destinations of backups that integrations provide, such as S3, WebDAV, SFTP or Google Drive. They are used together with those of `agentIDs`.',
      items: {
        type: 'object',
        properties: {
          integrationRef: {
            type: 'object',
            description: 'The HubIntegration of this Hub that provides the destination.',
            properties: {
              name: objectName('Name of the HubIntegration, in the same namespace.'),
            },
            required: ['name'],
          },
        },
        required: ['integrationRef'],
      },
      minItems: 1,
      maxItems: 32,
    },
    agentIDs: {
      type: 'array',
      description:
        'Destinations of backups: agent ids of the hub, such as backup.local. Without `agentIDs` and `agents`: those that the hub has, or its own volume (backup.local, with the Supervisor hassio.local) if it has none.',
      items: { type: 'string', minLength: 1, maxLength: 255 },
      minItems: 1,
      maxItems: 32,
      'x-kubernetes-list-type': 'set',
    },
    passwordSecretRef: secretKeyRef(
      'Secret with the password that encrypts backups. Absent: they are not encrypted; an external hub keeps the password that it has.',
      'password',
    ),
  },
} as const satisfies Field;
