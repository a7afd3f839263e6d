import { templateText } from '../connection/answers';
import { HubFailed } from '../connection/errors';
import type { RestClient } from '../connection/rest';

const TEMPLATE = "{{ (now() - (states | map(attribute='last_changed') | min)).total_seconds() }}";

/**
 * How long the hub has run at least, in milliseconds, by its own clock: the age of the oldest state that has not changed. It keeps no
 * state of an earlier start.
 */
export async function hubAge(rest: RestClient): Promise<number> {
  const answer = await rest.post('/api/template', { template: TEMPLATE }, { answer: templateText });
  const seconds = Number(answer.trim() || NaN);
  if (!Number.isFinite(seconds)) throw new HubFailed('the hub does not tell how old its states are');
  return Math.max(0, seconds * 1_000);
}
