import type { Field } from '../schema';
import { secretKeyRef } from '../secret-reference';

export const external = {
  type: 'object',
  description:
    'The hub already runs elsewhere, such as on a device at home: the operator runs nothing and manages only the ' +
    'automations, scenes, scripts and so on inside it. HubConfiguration, HubSecrets, HubCommunityRepository and ' +
    '`delivery: File` do not work with it, and there is no ban recovery. It cannot be added to or removed from a Hub. ' +
    'Absent: the operator runs the hub.',
  properties: {
    url: {
      type: 'string',
      description:
        'Address of the hub, such as `http://192.168.1.10:8123`: http or https, no path, no credentials; not a ' +
        'loopback or link-local address, nor a metadata service of a cloud. Redirects are not followed.',
      pattern: '^https?://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?$',
      maxLength: 300,
    },
    tokenSecretRef: secretKeyRef(
      'Secret with a long-lived access token of an administrator of the hub.',
      'token',
    ),
    caSecretRef: secretKeyRef(
      'Secret with the certificate authority of the hub, if https uses a private one.',
      'ca.crt',
    ),
  },
  required: ['url', 'tokenSecretRef'],
} as const satisfies Field;
