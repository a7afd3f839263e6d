import { until } from '.';
import type { HubProxy } from './hub-proxy';
import type { TestOperator } from './operator';

interface Point {
  /** Whether the proxy drops the request, or its answer. */
  readonly moment: 'request' | 'answer';
  readonly isHit: (what: string) => boolean;
}

/** Does something, and kills the operator at the first matching request to the hub. */
export async function killAtRequest(
  operator: TestOperator,
  proxy: HubProxy,
  { moment, isHit }: Point,
  act: () => Promise<unknown>,
): Promise<void> {
  let isKilled = false;
  let killed: Promise<'drop'> | undefined;
  const kill = async () => {
    await operator.kill();
    isKilled = true;
    return 'drop' as const;
  };
  proxy.hold = (at, what) => (at === moment && isHit(what) ? (killed ??= kill()) : undefined);
  await act();
  await until('the operator is killed', () => isKilled);
  proxy.mend();
}
