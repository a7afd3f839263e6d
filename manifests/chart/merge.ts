import { isDeepStrictEqual } from 'node:util';
import type { SynthSettings } from '../settings';
import { conditionOf } from './switches';
import type { Template } from './template';

/** One value in each of the installations that have it. */
export type Variants = ReadonlyMap<SynthSettings, unknown>;

type Fields = Readonly<Record<string, unknown>>;

/** One value with conditions where the installations differ. */
export function merge(template: Template, variants: Variants): unknown {
  const values = [...variants.values()];
  if (values.every((value) => isDeepStrictEqual(value, values[0]))) return values[0];
  if (values.every(Array.isArray))
    return mergeLists(template, variants as ReadonlyMap<SynthSettings, unknown[]>);
  if (values.every(isFields)) return mergeFields(template, variants as ReadonlyMap<SynthSettings, Fields>);
  return choice(template, variants);
}

function mergeFields(template: Template, variants: ReadonlyMap<SynthSettings, Fields>): Fields {
  const keys = new Set([...variants.values()].flatMap((fields) => Object.keys(fields)));
  const optional: Record<string, unknown> = {};
  const always: Record<string, unknown> = {};
  for (const key of keys) {
    const present = new Map(
      [...variants].filter(([, fields]) => key in fields).map(([at, fields]) => [at, fields[key]]),
    );
    const value = merge(template, present);
    if (present.size === variants.size) {
      always[key] = value;
    } else {
      optional[beginOf(template, present, variants)] = null;
      optional[key] = value;
      optional[template.lines(() => '{{- end }}')] = null;
    }
  }
  // A condition cannot be the first key of an item, whose dash would be lost.
  return { ...always, ...optional };
}

/** Items with a name are the same in all lists that have one with that name. */
function mergeLists(template: Template, variants: ReadonlyMap<SynthSettings, readonly unknown[]>): unknown[] {
  const items = new Map<string, Map<SynthSettings, unknown>>();
  for (const [at, list] of variants)
    for (const item of list) {
      const key = isFields(item) && typeof item['name'] === 'string' ? item['name'] : JSON.stringify(item);
      items.set(key, (items.get(key) ?? new Map<SynthSettings, unknown>()).set(at, item));
    }
  return [...items.values()].flatMap((present) => {
    const item = merge(template, present);
    return present.size === variants.size
      ? [item]
      : [beginOf(template, present, variants), item, template.lines(() => '{{- end }}')];
  });
}

/** Text that differs: all cases in one line. */
function choice(template: Template, variants: Variants): string {
  const texts = [...new Set(variants.values())];
  if (!texts.every((text) => typeof text === 'string'))
    throw new Error(
      `cannot write the chart: its installations differ in ${JSON.stringify(texts)}, which are not texts`,
    );
  const all = new Set(variants.keys());
  const cases = texts.map((text) => {
    const meant = new Set([...variants].filter(([, each]) => each === text).map(([at]) => at));
    return `${conditionOf(meant, all)} }}${text}`;
  });
  return template.inline(`if ${cases.join('{{ else if ')}{{ end`);
}

function beginOf(template: Template, present: Variants, among: Variants): string {
  const condition = conditionOf(new Set(present.keys()), new Set(among.keys()));
  return template.lines(() => `{{- if ${condition} }}`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
