import type { Column, KindDefinition } from './kind';

/** Columns of `kubectl get` that several kinds have. */

const hubColumn = {
  name: 'Hub',
  type: 'string',
  jsonPath: '.spec.hubRef.name',
} as const satisfies Column;

export const readyColumn = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
} as const satisfies Column;

/** Whether the hub has what a definition refers to. */
export const referencesColumn = {
  name: 'References',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="ReferencesFound")].status',
  wide: true,
} as const satisfies Column;

/**
 * The columns of a kind that belongs to a Hub. The kind's own columns are between Hub and Ready; columns with
 * a time follow Ready.
 */
export function columnsOfChild(columns: readonly Column[]): readonly Column[] {
  const isTime = ({ type }: Column) => type === 'date';
  return [hubColumn, ...columns.filter((column) => !isTime(column)), readyColumn, ...columns.filter(isTime)];
}

/** The last columns of every kind. `kubectl get -o wide` shows why a resource is not Ready. */
const lastColumns: readonly Column[] = [
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    wide: true,
  },
  {
    name: 'Status',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].message',
    wide: true,
  },
];

/** All columns of a kind after NAME, in their order. */
export function columnsOf({ columns }: Pick<KindDefinition, 'columns'>): readonly Column[] {
  return [...columns, ...lastColumns];
}
