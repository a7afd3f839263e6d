import type { Condition } from '../../operator/kinds';

/**
 * The rules of kstatus and of the API conventions that hold for every status of ours: tools such as
 * `kubectl wait`, Argo CD and Flux decide by them whether a resource is done.
 */

interface Reconciled {
  readonly metadata: { readonly name: string; readonly generation?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

/** One sentence for each rule that the status breaks; none when it breaks none. */
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

  // Until the operator has seen an object, tools wait for it by this number alone.
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
  // A dry-run compares and acts on nothing: the last observation stays as it was.
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
