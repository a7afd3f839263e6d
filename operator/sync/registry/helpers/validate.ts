import type { HubHelper } from '../../../kinds';
import type { EntryResource } from '../entry-type';
import { unitsOf } from './number-units';
import { patternProblem } from './text-pattern';
import { textValueProblem } from './text-value';

type Spec = HubHelper['spec'];

/**
 * Finds a mistake that the schema cannot detect and the hub does not refuse. The hub would store such a helper,
 * and lose it, or all helpers of the same type, at its next start.
 */
export function validateHelper(resource: EntryResource): string | undefined {
  const { spec } = resource as unknown as HubHelper;
  return numberProblem(spec) ?? textProblem(spec) ?? datetimeProblem(spec) ?? scheduleProblem(spec);
}

function numberProblem({ number }: Spec): string | undefined {
  const { deviceClass, unit } = number ?? {};
  const units = deviceClass === undefined ? undefined : unitsOf(deviceClass);
  if (!units || units.includes(unit)) return undefined;
  const known = units.map((each) => each ?? 'none').join(', ');
  return `spec.number.unit: the hub takes ${known} with deviceClass ${deviceClass}: set one of these, or another deviceClass.`;
}

function textProblem({ text }: Spec): string | undefined {
  const problem = text?.pattern === undefined ? undefined : patternProblem(text.pattern);
  if (problem !== undefined) return `spec.text.pattern: ${problem}`;
  const value = text?.initial === undefined ? undefined : textValueProblem(text, text.initial);
  return value && `spec.text.initial: it ${value}. The hub would not load the helper.`;
}

function datetimeProblem({ datetime }: Spec): string | undefined {
  const date = /^\d{4}-\d\d-\d\d/.exec(datetime?.initial ?? '')?.[0];
  if (date === undefined || isDate(date)) return undefined;
  return `spec.datetime.initial: there is no day ${date}. With it, the hub would set up no input_datetime at all at its next start.`;
}

function isDate(date: string): boolean {
  const time = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date);
}

type Day = NonNullable<NonNullable<Spec['schedule']>['monday']>;

function scheduleProblem({ schedule = {} }: Spec): string | undefined {
  for (const [day, slots] of Object.entries<Day>(schedule)) {
    const problem = dayProblem(slots);
    if (problem) return `spec.schedule.${day}${problem}`;
  }
  return undefined;
}

function dayProblem(slots: Day): string | undefined {
  for (const [index, { from, to, data = {} }] of slots.entries()) {
    if (secondsOf(from) >= secondsOf(to)) return `[${index}].to: ${to} is not after ${from}.`;
    const [name] = Object.entries(data).find(([, value]) => !isFlat(value)) ?? [];
    if (name !== undefined)
      return `[${index}].data: the hub takes texts, numbers, true and false, and ${name} is something else.`;
  }
  const sorted = slots.toSorted((a, b) => secondsOf(a.from) - secondsOf(b.from));
  for (const [index, { from, to }] of sorted.slice(1).entries()) {
    const before = sorted[index]!;
    if (secondsOf(before.to) > secondsOf(from))
      return `: ${before.from} to ${before.to} and ${from} to ${to} overlap. One may begin when the other ends.`;
  }
  return undefined;
}

function secondsOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return (hours * 60 + minutes) * 60 + seconds;
}

const isFlat = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
