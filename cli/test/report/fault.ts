import { oneLine } from '../../output';
import type { Fault } from '../protocol';
import { momentOf } from './times';
import { callOf } from './words';

/**
 * The lines about one fault: its time, its message with the expectation, the place of the step, and the most
 * similar calls.
 */
export function faultLines(fault: Fault, file: string): string[] {
  const { at, message, kind, line, seen = [], by } = fault;
  const author = by == null || message.includes(by) ? '' : ` (by ${oneLine(by)})`;
  const place = line == null ? '' : `  ${file}:${line}`;
  const calls = seen.map((call) => {
    const who = call.by == null ? '' : ` by ${oneLine(call.by)}`;
    return `${momentOf(call.at)}  ${callOf(call)}${who}`;
  });
  const isMissing = kind === 'missing-call' || kind === 'times';
  const [first, ...others] = calls.length === 0 && isMissing ? ['no call'] : calls;
  return [
    `${momentOf(at)}  ${oneLine(message)}${author}${place}`,
    ...(first === undefined ? [] : [`  seen  ${first}`, ...others.map((each) => `        ${each}`)]),
  ];
}
