import { flagWithDefault, int32Within, nonEmptyText, objectName } from '../fields';
import type { Field } from '../schema';
import { latitude, longitude } from '../coordinates';
import { secretKey, secretName } from '../secret-reference';

export const bootstrap = {
  type: 'object',
  description:
    'The first set-up of a new hub: its owner, its location, and the API token of the operator. This block has no ' +
    'effect on an external hub.',
  default: {},
  properties: {
    enabled: flagWithDefault(
      true,
      'False: the hub is not set up, and the Secret with the token is only read. Default true.',
    ),
    credentials: {
      type: 'object',
      description:
        'Credentials of the owner. Absent: the operator creates the Secret `<hub>-admin` with a random password, once.',
      properties: {
        secretRef: {
          type: 'object',
          description: 'Secret with the credentials.',
          properties: {
            name: secretName,
            usernameKey: {
              ...secretKey,
              description: 'Key of the user name, which the hub converts to lower case. Default username.',
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
    ownerName: nonEmptyText(255, 'Name of the owner as the hub shows it. Default: the user name.'),
    language: {
      type: 'string',
      description: 'Language of the hub, such as `de` or `pt-BR`. Default en.',
      pattern: '^[a-z]{2,3}(-[A-Za-z0-9]+)*$',
      maxLength: 32,
      default: 'en',
    },
    analytics: flagWithDefault(
      false,
      'True: the hub sends anonymous usage data to its developers. Default false.',
    ),
    apiTokenSecretName: objectName(
      'Secret for the operator’s API token, key `token`. Default `<hub>-api-token`.',
    ),
    tokenLifespanDays: {
      type: 'integer',
      format: 'int32',
      description: 'Lifetime of a new API token, in days. Default 3650.',
      minimum: 1,
      maximum: 36500,
      default: 3650,
    },
    location: {
      type: 'object',
      description: 'Location of the home. Absent fields are not changed in the hub.',
      default: {},
      properties: {
        name: nonEmptyText(255, 'Name of the home, such as `Home`.'),
        latitude,
        longitude,
        elevation: int32Within(-500, 9000, 'Elevation in metres above sea level.'),
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
          description:
            'Time zone of the home, such as `Europe/Berlin`. Default: `spec.timezone` when the operator onboards the hub; a hub that was onboarded before keeps its own.',
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
