import { oneLine } from '../../output';
import type { CaseResult, TimelineEvent } from '../result';
import { localTimeOf } from './times';
import { callOf, dataOf } from './words';

/** The calls and changes of a case with their local times, under a heading for each day. */
export function timelineOf({ events, test }: Pick<CaseResult, 'events' | 'test'>): string[] {
  const head = `echo: ${test.echo ? 'on' : 'off'}`;
  if (events.length === 0) return [head, 'nothing happened'];
  const width = Math.max(...events.filter(isChange).map(({ entity }) => entity.length), 0);
  let today = '';
  const lines = events.flatMap((event) => {
    const { day, clock } = localTimeOf(event.at);
    const heading = day === today ? [] : [day];
    today = day;
    return [...heading, `  ${clock}  ${isChange(event) ? changeOf(event, width) : madeCall(event)}`];
  });
  return [head, ...lines];
}

const isChange = (event: TimelineEvent) => event.type === 'change';

function madeCall(event: Extract<TimelineEvent, { type: 'call' }>): string {
  const author = event.by == null ? 'the test' : oneLine(event.by);
  return `${author} calls ${callOf(event)}`;
}

function changeOf(
  { entity, from, to, attributes }: Extract<TimelineEvent, { type: 'change' }>,
  width: number,
): string {
  const change =
    from === to ? `${to ?? ''}` : `${from == null ? '(new)' : from} → ${to == null ? '(removed)' : to}`;
  const more = attributes && Object.keys(attributes).length > 0 ? `  ${dataOf(attributes, 80)}` : '';
  return oneLine(`${entity.padEnd(width)}  ${change}${more}`);
}
