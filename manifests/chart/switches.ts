import { namespaced, type SynthSettings, webhookCertificates } from '../settings';

/** A way in which the objects of installations differ, chosen by a value of the chart. */
export interface Switch {
  /** As an operand of `and`. */
  readonly condition: string;
  readonly holds: (settings: SynthSettings) => boolean;
}

/** The mode of the webhook that the values lead to, or nothing: see helpers.ts. */
const MODE = '(include "hub-operator.webhook" $)';

/** At most one of each list applies to a condition. */
const switches: readonly (readonly Switch[])[] = [
  [
    { condition: '$.Values.watchNamespaces', holds: ({ scope }) => scope === 'namespaced' },
    { condition: '(not $.Values.watchNamespaces)', holds: ({ scope }) => scope === 'cluster' },
  ],
  [
    { condition: MODE, holds: ({ webhook }) => webhook !== undefined },
    { condition: `(not ${MODE})`, holds: ({ webhook }) => webhook === undefined },
    ...webhookCertificates.map((certificate) => ({
      condition: `(eq ${MODE} "${certificate}")`,
      holds: ({ webhook }: SynthSettings) => webhook === certificate,
    })),
  ],
  [
    { condition: '$.Values.monitoring.enabled', holds: ({ monitoring }) => monitoring },
    { condition: '(not $.Values.monitoring.enabled)', holds: ({ monitoring }) => !monitoring },
  ],
];

/** The settings of all installations that differ in more than a value. */
export function installations(settings: SynthSettings): readonly SynthSettings[] {
  return [...webhookCertificates, undefined].flatMap((webhook) =>
    [false, true].flatMap((monitoring) => {
      const wide: SynthSettings = { ...settings, webhook, monitoring, scope: 'cluster' };
      // An operator of some namespaces cannot make a certificate: it is as without a webhook.
      return webhook === 'self-signed'
        ? [wide]
        : [wide, { ...namespaced(wide), watchNamespaces: settings.watchNamespaces }];
    }),
  );
}

/**
 * The condition under which, of some installations, just those are meant; empty: all of them are.
 *
 * @throws Error no condition is known for them
 */
export function conditionOf(meant: ReadonlySet<SynthSettings>, among: ReadonlySet<SynthSettings>): string {
  const found = combinations()
    .filter((each) =>
      [...among].every((settings) => meant.has(settings) === each.every(({ holds }) => holds(settings))),
    )
    .sort((a, b) => a.length - b.length)[0];
  if (!found)
    throw new Error('cannot write the chart: a switch for some of its objects is missing in switches.ts');
  const conditions = found.map(({ condition }) => condition);
  return conditions.length > 1
    ? `and ${conditions.join(' ')}`
    : conditions.join('').replace(/^\((.*)\)$/, '$1');
}

/** Conjunctions of the switches, none first. */
function combinations(): readonly (readonly Switch[])[] {
  return switches.reduce<readonly (readonly Switch[])[]>(
    (all, alternatives) => all.flatMap((each) => [each, ...alternatives.map((choice) => [...each, choice])]),
    [[]],
  );
}
