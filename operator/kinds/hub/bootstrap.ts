import type { Field } from '../schema';
import { secretKey, secretName } from '../secret-reference';

const days = { type: 'integer', format: 'int32', minimum: 1, maximum: 36500 } as const;

export const bootstrap = {
  type: 'object',
  description:
    'The first set-up of a new hub: its owner, its place, and the API token of the operator. An external hub is never ' +
    'set up: there, this block does nothing.',
  default: {},
  properties: {
    enabled: {
      type: 'boolean',
      description:
        'False: the hub is not set up, and the Secret with the token is read but never written. Default true.',
      default: true,
    },
    credentials: {
      type: 'object',
      description:
        'The owner’s credentials. Absent: the operator makes the Secret `<hub>-admin` with a random password, once.',
      properties: {
        secretRef: {
          type: 'object',
          description: 'Secret with the credentials.',
          properties: {
            name: secretName,
            usernameKey: {
              ...secretKey,
              description: 'Key of the user name, which the hub takes in lower case. Default username.',
              default: 'username',
            },
            passwordKey: {
              ...secretKey,
              description: 'Key of the password. Default password.',
              default: 'password',
            },
          },
          required: ['name'],
        },
      },
      required: ['secretRef'],
    },
    ownerName: {
      type: 'string',
      description: 'Name of the owner as the hub shows it. Default: the user name.',
      minLength: 1,
      maxLength: 255,
    },
    language: {
      type: 'string',
      description: 'Language of the hub, such as `de` or `pt-BR`. Default en.',
      pattern: '^[a-z]{2,3}(-[A-Za-z0-9]+)*$',
      maxLength: 32,
      default: 'en',
    },
    analytics: {
      type: 'boolean',
      description: 'True: the hub sends anonymous usage data to its makers. Default false.',
      default: false,
    },
    apiTokenSecretName: {
      type: 'string',
      description: 'Secret for the operator’s API token, key `token`. Default `<hub>-api-token`.',
      minLength: 1,
      maxLength: 253,
    },
    tokenLifespanDays: {
      ...days,
      description: 'How many days a new API token lives. Default 3650.',
      default: 3650,
    },
    location: {
      type: 'object',
      description: 'Where the home is. Fields that are absent are left as they are in the hub.',
      default: {},
      properties: {
        name: {
          type: 'string',
          description: 'Name of the home, such as `Home`.',
          minLength: 1,
          maxLength: 255,
        },
        latitude: {
          type: 'string',
          description: 'Degrees north, a decimal in quotes from "-90" to "90", such as "52.5200".',
          pattern: '^[+-]?([0-8]?[0-9](\\.[0-9]{1,15})?|90(\\.0{1,15})?)$',
          maxLength: 20,
        },
        longitude: {
          type: 'string',
          description: 'Degrees east, a decimal in quotes from "-180" to "180", such as "13.4050".',
          pattern: '^[+-]?((1[0-7][0-9]|[0-9]?[0-9])(\\.[0-9]{1,15})?|180(\\.0{1,15})?)$',
          maxLength: 20,
        },
        elevation: {
          type: 'integer',
          format: 'int32',
          description: 'Metres above the sea.',
          minimum: -500,
          maximum: 9000,
        },
        unitSystem: {
          type: 'string',
          description: 'metric or us_customary.',
          enum: ['metric', 'us_customary'],
        },
        currency: {
          type: 'string',
          description: 'Currency, three capital letters (ISO 4217), such as `EUR`.',
          pattern: '^[A-Z]{3}$',
        },
        timeZone: {
          type: 'string',
          description: 'Time zone of the home, such as `Europe/Berlin`. Default: `spec.timezone`.',
          pattern: '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$',
          maxLength: 64,
        },
        country: {
          type: 'string',
          description:
            'Country, two capital letters in quotes (ISO 3166), such as "DE"; kubectl reads a bare NO as a boolean.',
          pattern: '^[A-Z]{2}$',
        },
      },
      'x-kubernetes-validations': [
        {
          rule: 'has(self.latitude) == has(self.longitude)',
          message: 'location.latitude and location.longitude belong together: set both, or none',
          fieldPath: '.latitude',
        },
      ],
    },
  },
} as const satisfies Field;

export const backup = {
  type: 'object',
  description: 'The hub’s automatic backups. Absent: the hub’s own schedule is left alone.',
  properties: {
    recurrence: {
      type: 'string',
      description:
        'How often: daily (default), on one day of the week (mon … sun), or never, which switches them off.',
      enum: ['daily', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun', 'never'],
      default: 'daily',
    },
    time: {
      type: 'string',
      description:
        'Time of day in the hub’s time zone, HH:MM:SS in quotes, such as "03:30:00". Absent: the hub chooses, before 6:00.',
      pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$',
    },
    retentionCopies: {
      type: 'integer',
      format: 'int32',
      description: 'How many backups are kept. Absent: no limit.',
      minimum: 1,
      maximum: 10000,
    },
    retentionDays: { ...days, description: 'How many days a backup is kept. Absent: no limit.' },
    includeDatabase: {
      type: 'boolean',
      description: 'Whether history is part of it. Default true.',
      default: true,
    },
    agentIDs: {
      type: 'array',
      description: 'Where backups go, by the hub’s agent ids. Default [backup.local]: the hub’s own volume.',
      items: { type: 'string', minLength: 1, maxLength: 255 },
      minItems: 1,
      maxItems: 32,
      'x-kubernetes-list-type': 'set',
      default: ['backup.local'],
    },
    passwordSecretRef: {
      type: 'object',
      description: 'Secret with the password that encrypts backups. Absent: they are not encrypted.',
      properties: {
        name: secretName,
        key: { ...secretKey, description: 'Key of the password. Default password.', default: 'password' },
      },
      required: ['name'],
    },
  },
} as const satisfies Field;
