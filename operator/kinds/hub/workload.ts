import { userAnnotations } from '../annotations';
import { flagWithDefault, objectName, textUpTo } from '../fields';
import type { Field, Schema } from '../schema';
import { quantityPattern } from './storage';

const quantity = {
  'x-kubernetes-int-or-string': true,
  pattern: quantityPattern,
  maxLength: 32,
} as const satisfies Schema;

/** Schemas of the hub's image, container and pod. */
export const workload = {
  version: {
    type: 'string',
    description:
      'Image tag of Home Assistant, such as `2026.11.0`, or a digest (`sha256:<hex>`). Pin one: `stable` moves. A version ' +
      `lower than the one that ran on the volume is refused, unless the annotation \`${userAnnotations.allowDowngrade}\` names it. ` +
      'Default stable.',
    pattern: '^([A-Za-z0-9_][A-Za-z0-9._-]{0,127}|sha256:[a-f0-9]{64})$',
    maxLength: 128,
    default: 'stable',
  },
  image: {
    type: 'string',
    description: 'Image of the hub, without tag or digest. Default ghcr.io/home-assistant/home-assistant.',
    pattern: '^([A-Za-z0-9.-]+(:[0-9]+)?/)?[a-z0-9][a-z0-9._/-]*$',
    maxLength: 255,
    default: 'ghcr.io/home-assistant/home-assistant',
  },
  imagePullPolicy: {
    type: 'string',
    description:
      'When the node pulls the image. Absent: IfNotPresent (Always for the tag `latest`), so a node that has the image of a ' +
      'moving tag such as `stable` does not pull it again.',
    enum: ['Always', 'IfNotPresent', 'Never'],
  },
  imagePullSecrets: {
    type: 'array',
    description: 'Secrets with the credentials of the image’s registry. Default: none.',
    items: {
      type: 'object',
      properties: {
        name: objectName('Name of the Secret.'),
      },
      required: ['name'],
    },
    maxItems: 16,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  },
  timezone: {
    type: 'string',
    description:
      'Time zone of the pod (`TZ`), such as `Europe/Berlin`. A hub that the operator onboards gets it as its own. Default UTC.',
    pattern: '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$',
    maxLength: 64,
    default: 'UTC',
  },
  resources: {
    type: 'object',
    description:
      'CPU, memory and devices of the hub’s container, as in a pod, including resources of device plugins. Default: none.',
    properties: {
      limits: {
        type: 'object',
        description:
          'Maximum that the container may use, by resource, such as `memory: 2Gi`. Quote fractions: "0.5".',
        additionalProperties: quantity,
        maxProperties: 64,
      },
      requests: {
        type: 'object',
        description: 'What the scheduler reserves for the container, by resource. Default: as `limits`.',
        additionalProperties: quantity,
        maxProperties: 64,
      },
      claims: {
        type: 'array',
        description:
          'Resource claims of the pod that the container uses. They are declared in `podTemplate.spec.resourceClaims`.',
        items: {
          type: 'object',
          properties: {
            name: objectName('Name of the claim in the pod.'),
            request: textUpTo(253, 'The request of the claim that is used. Absent: all.'),
          },
          required: ['name'],
        },
        maxItems: 16,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    },
  },
  hostNetwork: flagWithDefault(
    false,
    'Run the hub in the node’s network, so that it finds devices by mDNS and SSDP. Also sets the DNS policy ' +
      'ClusterFirstWithHostNet. Default false.',
  ),
  podTemplate: {
    type: 'object',
    description:
      'Parts of a PodTemplateSpec that are merged last into the hub’s pod, by the merge keys of Kubernetes: metadata, ' +
      'scheduling, env, sidecars, extra volumes, security context, probes. The hub’s container is named `hub`. The ' +
      'operator’s own containers and mounts cannot be removed. Default: empty.',
    'x-kubernetes-preserve-unknown-fields': true,
  },
} as const satisfies Record<string, Field>;
