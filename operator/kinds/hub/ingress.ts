import { objectName } from '../fields';
import type { Field } from '../schema';
import { annotations, enabledByPresence, hostPattern } from './network';

export const ingress = {
  type: 'object',
  description:
    'The Ingress `<hub>`. The hub also needs the address of the ingress controller in `http.trusted_proxies`. Absent: none.',
  properties: {
    enabled: {
      ...enabledByPresence,
      description: 'False: no Ingress. Default true if the block is present.',
    },
    host: {
      type: 'string',
      description: 'Host name of the hub, such as `home.example.org`. Needed if enabled.',
      pattern: hostPattern,
      maxLength: 253,
    },
    ingressClassName: objectName('Class of the Ingress. Absent: the default of the cluster.'),
    annotations: {
      ...annotations,
      description: 'Annotations of the Ingress, for its controller. Default: none.',
    },
    tls: {
      type: 'object',
      description: 'Encryption (HTTPS). Absent: plain HTTP.',
      properties: {
        enabled: {
          ...enabledByPresence,
          description: 'False: plain HTTP. Default true if the block is present.',
        },
        secretName: objectName(
          'Secret with the certificate (`tls.crt`, `tls.key`). An existing one overrides `issuerRef`. Default with ' +
            '`issuerRef`: `<hub>-tls`.',
        ),
        issuerRef: {
          type: 'object',
          description:
            'The cert-manager issuer that issues the certificate. Without cert-manager the hub is served over HTTP.',
          properties: {
            name: objectName('Name of the issuer.'),
            kind: {
              type: 'string',
              description: 'Issuer (default) or ClusterIssuer, or the kind of an external issuer.',
              minLength: 1,
              maxLength: 63,
              default: 'Issuer',
            },
            group: {
              type: 'string',
              description: 'API group of the issuer. Default cert-manager.io.',
              minLength: 1,
              maxLength: 253,
              default: 'cert-manager.io',
            },
          },
          required: ['name'],
        },
      },
      'x-kubernetes-validations': [
        {
          rule: '(has(self.enabled) && !self.enabled) || has(self.secretName) || has(self.issuerRef)',
          message: 'ingress.tls needs a certificate: set secretName or issuerRef, or enabled: false',
          fieldPath: '.secretName',
        },
      ],
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '(has(self.enabled) && !self.enabled) || has(self.host)',
      message: 'ingress.host is needed: set the host name of the hub, or enabled: false',
      fieldPath: '.host',
    },
  ],
} as const satisfies Field;
