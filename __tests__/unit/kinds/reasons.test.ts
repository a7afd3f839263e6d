import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '../../../operator/kinds';
import {
  type ConditionDescription,
  type Documented,
  eventReasons,
  otherConditions,
  readyReasons,
} from '../../../operator/kinds/reasons';

const operator = join(__dirname, '..', '..', '..', 'operator');
const sources = readdirSync(operator, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && name !== join('kinds', 'reasons.ts'))
  .map((name) => readFileSync(join(operator, name), 'utf8'));

const conditions: [string, ConditionDescription][] = Object.entries(otherConditions);
const described: [string, Pick<Documented, 'meaning' | 'action'>][] = [
  ...Object.entries(readyReasons),
  ...Object.entries(eventReasons),
  ...conditions.flatMap(([, { reasons }]) => Object.entries(reasons)),
];

describe('readyReasons, otherConditions, eventReasons', () => {
  test('every reason is written somewhere in the operator', () => {
    const unused = described.map(([reason]) => reason).filter((reason) => !isUsed(reason));
    expect(unused).toEqual([]);
  });

  test('every condition type is written somewhere in the operator', () => {
    const unused = conditions.map(([type]) => type).filter((type) => !isUsed(type));
    expect(unused).toEqual([]);
  });

  test('every reason is one word in PascalCase, as the API server demands', () => {
    expect(described.filter(([reason]) => !/^([A-Z][a-z]+)+$/.test(reason))).toEqual([]);
  });

  test('meanings and actions are sentences', () => {
    const texts = described.flatMap(([, { meaning, action }]) => [meaning, action ?? 'None.']);
    expect(texts.filter((text) => !/^(`|[A-Z])[^|]*\.$/s.test(text))).toEqual([]);
  });

  test('the kinds that are named exist', () => {
    const named = [
      ...Object.values(readyReasons),
      ...Object.values(eventReasons),
      ...conditions.map(([, each]) => each),
    ]
      .flatMap((each: Pick<Documented, 'kinds'>) => each.kinds)
      .filter((name) => !name.startsWith('all'));
    const known = new Set(kinds.map(({ kind }) => kind));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

function isUsed(name: string): boolean {
  const written = new RegExp(`'${name}'|\\b${name}:`);
  return sources.some((text) => written.test(text));
}
