import type { Template } from './template';

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string | null>> };
}

const AGGREGATION = 'rbac.authorization.k8s.io/aggregate-to-';

/** A role for people, which the cluster's own roles contain only where a value of the chart says so. */
export function withAggregationValue<T extends Role>(template: Template, role: T): T {
  const labels = Object.entries(role.metadata.labels ?? {});
  const aggregated = labels.filter(([name]) => name.startsWith(AGGREGATION));
  if (aggregated.length === 0) return role;
  return {
    ...role,
    metadata: {
      ...role.metadata,
      labels: {
        ...Object.fromEntries(labels.filter(([name]) => !name.startsWith(AGGREGATION))),
        [template.lines(() => '{{- if $.Values.aggregateRoles }}')]: null,
        ...Object.fromEntries(aggregated),
        [template.lines(() => '{{- end }}')]: null,
      },
    },
  };
}
