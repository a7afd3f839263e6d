import type { Template } from './template';

type Fields = Record<string, unknown>;

interface Deployment {
  readonly spec: Fields & {
    readonly template: {
      readonly metadata: Fields & { readonly labels: Fields };
      readonly spec: Fields & { readonly containers: readonly [Fields & { readonly env: unknown[] }] };
    };
  };
}

/** The Deployment with the values of the chart that concern its pods alone. */
export function withPodValues(template: Template, deployment: object): object {
  const copy = structuredClone(deployment) as Deployment;
  const { metadata, spec: pod } = copy.spec.template;
  const [container] = pod.containers;

  copy.spec['replicas'] = template.inline('$.Values.replicas');
  for (const field of ['imagePullSecrets', 'nodeSelector', 'tolerations', 'affinity', 'priorityClassName'])
    addOptional(template, pod, field, `$.Values.${field}`);
  addOptional(template, metadata, 'annotations', '$.Values.podAnnotations');
  metadata.labels[template.items('$.Values.podLabels')] = null;

  container['imagePullPolicy'] = template.string('$.Values.image.pullPolicy');
  delete container['resources'];
  addOptional(template, container, 'resources', '$.Values.resources');
  container.env.push(
    template.lines((indentation) =>
      [
        '{{- range $name, $value := $.Values.settings }}',
        `${indentation}- name: {{ $name }}`,
        `${indentation}  value: {{ toString $value | quote }}`,
        '{{- end }}',
      ].join('\n'),
    ),
    template.items('$.Values.env'),
  );
  return copy;
}

/** A field that is absent while its value is empty. */
function addOptional(template: Template, fields: Fields, name: string, value: string): void {
  fields[template.field(name, value)] = null;
}
