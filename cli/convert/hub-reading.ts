import type { ScalarTag, Tags } from 'yaml';

/** Plain texts that are not texts to the loader of the hub (YAML 1.1 as PyYAML reads it): `1e3`, `0o17` and `y` are texts, `12:30:00` is none. */

const tagOf = (name: string): string => `tag:yaml.org,2002:${name}`;

const type = (name: string, test: RegExp, resolve: ScalarTag['resolve']): ScalarTag => ({
  default: true,
  tag: tagOf(name),
  test,
  resolve,
});

const integer = (test: RegExp, valueOf: (digits: string) => bigint): ScalarTag =>
  type('int', test, (text) => {
    const digits = text.replace(/_/g, '').replace(/^[-+]/, '');
    return text.startsWith('-') ? -valueOf(digits) : valueOf(digits);
  });

const float = (test: RegExp, valueOf: (digits: string) => number): ScalarTag =>
  type('float', test, (text) => valueOf(text.replace(/_/g, '')));

const ofSixty = (text: string): bigint => text.split(':').reduce((sum, part) => sum * 60n + BigInt(part), 0n);

function floatOfSixty(text: string): number {
  const [whole = '', ...rest] = text.replace(/^[-+]/, '').split(/:(?=[\d.]+$)/);
  const value = Number(ofSixty(whole)) * 60 + Number(rest.join(''));
  return text.startsWith('-') ? -value : value;
}

const SCALARS: readonly ScalarTag[] = [
  type('null', /^(?:~|null|Null|NULL|)$/, () => null),
  type('bool', /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/, () => true),
  type('bool', /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/, () => false),
  integer(/^[-+]?0b[01_]*[01][01_]*$/, (digits) => BigInt(digits)),
  integer(/^[-+]?0x[\da-fA-F_]*[\da-fA-F][\da-fA-F_]*$/, (digits) => BigInt(digits)),
  integer(/^[-+]?0[0-7_]*[0-7][0-7_]*$/, (digits) => BigInt(`0o${digits}`)),
  integer(/^[-+]?(?:0|[1-9][\d_]*)$/, (digits) => BigInt(digits)),
  integer(/^[-+]?[1-9][\d_]*(?::[0-5]?\d)+$/, ofSixty),
  float(/^[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?$/, Number),
  float(/^\.\d[\d_]*(?:[eE][-+]\d+)?$/, Number),
  float(/^[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*$/, floatOfSixty),
  float(/^\+?\.(?:inf|Inf|INF)$/, () => Infinity),
  float(/^-\.(?:inf|Inf|INF)$/, () => -Infinity),
  float(/^\.(?:nan|NaN|NAN)$/, () => NaN),
];

const REPLACED = [...SCALARS.map(({ tag }) => tag), tagOf('timestamp')];

/** Options with which a text is read as the hub reads it; a date stays a text. `numbersOfJson` gives the numbers their type. */
export const hubReading = {
  version: '1.1',
  customTags: (tags: Tags): Tags => [
    ...tags.filter((each) => typeof each === 'string' || !REPLACED.includes(each.tag)),
    ...SCALARS,
  ],
} as const;
