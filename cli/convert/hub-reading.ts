import { type Document, isScalar, Scalar, type ScalarTag, type Tags, visit } from 'yaml';

/**
 * Makes the reader interpret plain scalars like the hub's loader (YAML 1.1 as implemented by PyYAML). For
 * example, `1e3`, `0o17` and `y` are strings, and `12:30:00` is not.
 */

export const tagOf = (name: string): string => `tag:yaml.org,2002:${name}`;

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

/** A number as Python reads it. YAML needs a point in one with an exponent, and Python does not. */
const DECIMAL = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

function tagged(name: string, valueOf: (text: string) => unknown): ScalarTag {
  return {
    default: false,
    tag: tagOf(name),
    resolve: (text, onError) => {
      const value = valueOf(text);
      if (value === undefined) onError('another form than that of the tag'); // the hub reads no line of the file
      return value;
    },
  };
}

/** The value of a text that has one of the forms of a type. */
const formOf = (name: string, text: string): unknown =>
  SCALARS.find(({ tag, test }) => tag === tagOf(name) && test?.test(text))?.resolve(
    text,
    () => undefined,
    {},
  );

/** The values of `!!float 3` and so on, which may have more forms than a value without a tag. */
const TAGGED: readonly ScalarTag[] = [
  tagged('null', () => null),
  tagged('bool', (text) => formOf('bool', text.toLowerCase())),
  tagged('int', (text) => formOf('int', text.trim().replace(/^([-+]?)0o/, '$10'))),
  tagged('float', (text) => {
    const plain = text.trim().toLowerCase().replace(/_/g, '');
    if (DECIMAL.test(plain)) return Number(plain);
    return (
      formOf('float', plain) ?? (/^[-+]?\d+(:\d+)+$/.test(plain) ? Number(formOf('int', plain)) : undefined)
    );
  }),
];

const REPLACED = [...SCALARS.map(({ tag }) => tag), tagOf('timestamp')];

/**
 * Options to read a text as the hub reads it, except that a date remains a string. `numbersOfJson` converts
 * the numbers afterwards.
 */
export const hubReading = {
  version: '1.1',
  customTags: (tags: Tags): Tags => [
    ...tags.filter((each) => typeof each === 'string' || !REPLACED.includes(each.tag)),
    ...TAGGED,
    ...SCALARS,
  ],
} as const;

/** Gives keys that are null the name that the hub gives them in JSON, as it gives 1 and true theirs. */
export function nameNullKeys(document: Document): void {
  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.key) && pair.key.value === null) pair.key = new Scalar('null');
    },
  });
}
