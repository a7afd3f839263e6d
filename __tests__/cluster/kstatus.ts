import type { Condition } from '../../operator/kinds';

/**
 * Rules of kstatus and of the API conventions for the status of all our kinds. Tools such as `kubectl wait`,
 * Argo CD and Flux use them to decide whether a resource is reconciled.
 */

interface Reconciled {
  readonly metadata: { readonly name: string; readonly generation?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

/** Returns one sentence for each rule that the status breaks. */
export function kstatusViolations({ metadata, status = {} }: Reconciled): string[] {
  const { generation = 0 } = metadata;
  const { conditions = [], observedGeneration } = status;
  const isTrue = (type: string) => conditions.some((each) => each.type === type && each.status === 'True');
  const ready = conditions.find(({ type }) => type === 'Ready');
  const ours = conditions.filter((each) => each.observedGeneration !== undefined);
  const found: string[] = [];
  const demand = (holds: boolean, sentence: string) => {
    if (!holds) found.push(sentence);
  };

  // Before the operator has seen an object, observedGeneration -1 is the only sign by which tools wait.
  demand(ready !== undefined || observedGeneration === -1, 'there is no condition Ready');
  demand(
    new Set(conditions.map(({ type }) => type)).size === conditions.length,
    'a condition type is there twice',
  );
  demand(!(isTrue('Reconciling') && isTrue('Stalled')), 'Reconciling and Stalled are both True');
  for (const type of ['Reconciling', 'Stalled'])
    demand(!(isTrue(type) && ready?.status === 'True'), `${type} is True beside Ready=True`);
  for (const { type, reason = '', observedGeneration: of = 0 } of ours) {
    demand(of <= generation, `${type} is of generation ${of}, the object of ${generation}`);
    demand(
      /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason),
      `the reason "${reason}" of ${type} is no identifier`,
    );
  }
  demand(
    observedGeneration === undefined || observedGeneration <= generation,
    `status.observedGeneration is ${observedGeneration}, the generation ${generation}`,
  );
  // A dry run observes nothing, so the last observation stays.
  if (ready?.status === 'True' && ready.reason !== 'DryRun' && ready.observedGeneration === generation) {
    demand(
      observedGeneration === generation,
      `Ready=True with status.observedGeneration ${observedGeneration} of ${generation}`,
    );
    for (const { type, observedGeneration: of } of ours)
      demand(of === generation, `Ready=True beside ${type} of generation ${of}, not ${generation}`);
  }
  return found;
}
