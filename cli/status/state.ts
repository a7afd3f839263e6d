import type { CustomResource } from '../../operator/kinds/resource';
import { conditionOf } from '../../operator/runtime/conditions';

/** The state of a resource in one word, by the rules of kstatus. */
export type State = 'Ready' | 'Progressing' | 'Failed' | 'Suspended' | 'Deleting';

interface ResourceState {
  readonly state: State;
  /** From the condition `Ready`; absent if the operator has not reconciled the resource yet. */
  readonly reason?: string;
  readonly message?: string;
}

export function stateOf(resource: CustomResource): ResourceState {
  const { metadata, spec } = resource;
  const ready = conditionOf(resource, 'Ready');
  const why = ready && { reason: ready.reason, message: ready.message };
  if (metadata.deletionTimestamp) return { state: 'Deleting', ...why };
  if (spec.suspend) return { state: 'Suspended', ...why };
  if (!ready) return { state: 'Progressing', message: 'The operator has not reconciled it yet.' };
  if (ready.observedGeneration !== metadata.generation)
    return { state: 'Progressing', ...why, message: 'The operator has not reconciled the last change yet.' };
  if (ready.status === 'True') return { state: 'Ready', ...why };
  return { state: conditionOf(resource, 'Stalled')?.status === 'True' ? 'Failed' : 'Progressing', ...why };
}
