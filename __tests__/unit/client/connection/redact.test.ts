import { randomBytes } from 'node:crypto';
import { redactor, redactValue, RememberedSecrets } from '../../../../operator/client/connection/redact';
import fc from '../../../fast-check';

const MIB = 2 ** 20;
const randomText = (length: number): string => randomBytes(length).toString('base64').slice(0, length);
/** Distinct lines that begin with the same characters. */
const linesOf = (count: number, length: number): string =>
  Array.from({ length: count }, (_, i) => i.toString(36).padStart(length, 'q')).join('\n');

/**
 * A simple implementation of `redactor`: every run of characters that belongs to a form of a value becomes
 * `***`.
 */
function reference(values: readonly string[], text: string): string {
  const isMasked = new Array<boolean>(text.length).fill(false);
  const parts = values.flatMap((value) => [
    value,
    /^[\w+.-]+:\/\/[^/?#\s:@]*:([^/?#\s@]+)@/.exec(value)?.[1] ?? '',
    ...value.split(/\r?\n/),
  ]);
  const forms = parts
    .map((part) => part.trim())
    .flatMap((part) => [
      part,
      JSON.stringify(part).slice(1, -1),
      encodeURIComponent(part),
      new URLSearchParams({ '': part }).toString().slice(1),
    ]);
  for (const form of forms.filter(({ length }) => length >= 4))
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
      isMasked.fill(true, at, at + form.length);
  return [...isMasked.keys()]
    .map((at) => (!isMasked[at] ? text[at] : isMasked[at - 1] ? '' : '***'))
    .join('');
}

describe('redactor', () => {
  test.each([
    ['plain', ['hunter2!'], "got 'hunter2!' here", "got '***' here"],
    ['every occurrence', ['hunter2'], 'hunter2 hunter2', '*** ***'],
    ['longest first', ['pass', 'password'], 'password pass', '*** ***'],
    ['overlapping ones as one', ['abcdef', 'defghi'], 'abcdefghi', '***'],
    ['one that overlaps itself', ['aaaa'], 'aaaaaa', '***'],
    ['one after the other', ['hunter2', 'hunter3'], 'hunter2hunter3', '***'],
    ['characters of patterns', ['a.*+?(b)'], 'x a.*+?(b) y', 'x *** y'],
    ['URL-encoded', ['p@ss/wörd'], 'mysql://u:p%40ss%2Fw%C3%B6rd@db', 'mysql://u:***@db'],
    ['form-encoded', ['a b+c d'], 'token=a+b%2Bc+d&x=1', 'token=***&x=1'],
    ['JSON-escaped', ['say "hi"'], '{"v":"say \\"hi\\""}', '{"v":"***"}'],
    ['one line of several', ['-----KEY-----\nabcdef012345\n'], 'bad line: abcdef012345', 'bad line: ***'],
    ['the password in a URL', ['pg://me:hunter2@db/x'], 'hunter2 is wrong', '*** is wrong'],
    ['not the short ones', ['on', '', 'yes'], 'turn on: yes', 'turn on: yes'],
    ['nothing to mask', [], 'text', 'text'],
  ])('%s', (_what, secrets, given, expected) => {
    expect(redactor(secrets)(given)).toBe(expected);
  });

  test.each([
    ['before an ellipsis', ['correct horse battery'], 'Got correct hor…', 'Got ***…'],
    ['before three dots', ['correct horse battery'], "Got {'password': 'corr...", "Got {'password': '***..."],
    ['in the middle of a text', ['correct horse'], 'a: correct h... b: correct', 'a: ***... b: correct'],
    ['not three characters', ['correct horse'], 'Got cor...', 'Got cor...'],
    ['URL-encoded', ['p@ss/wörd'], 'mysql://u:p%40ss%2Fw…', 'mysql://u:***…'],
    ['of a long line', ['abcdefghij'.repeat(1_000)], `'${'abcdefghij'.repeat(49)}abcdef...`, "'***..."],
  ])('masks the beginning of a value where a text is truncated: %s', (_what, secrets, given, expected) => {
    expect(redactor(secrets)(given)).toBe(expected);
  });

  test('leaves nothing of a value before a truncation, however much of it remains', () => {
    const length = fc.integer({ min: 4, max: 200 });
    fc.assert(
      fc.property(
        length,
        fc.integer({ min: 4, max: 200 }),
        fc.constantFrom('…', '...'),
        (all, left, mark) => {
          const value = randomText(all);
          expect(redactor([value])(`Got ${value.slice(0, left)}${mark}`)).toBe(`Got ***${mark}`);
        },
      ),
    );
  });

  test('masks the same parts as a simple search for each form', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', '"', '\\', ' ', '/', 'ö', '\n', '@', ':'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 6 }),
        fc.array(word),
        fc.array(fc.nat(5)),
        (values, words, used) => {
          const quoted = used.map((index) => values[index] ?? '');
          const forms = quoted.flatMap((value) => [value, JSON.stringify(value), encodeURIComponent(value)]);
          const text = [...words, ...forms].join('');
          expect(redactor(values)(text)).toBe(reference(values, text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ['one line of 1 MiB', randomText(MIB)],
    ['a bundle of 700 lines', randomText(45_000).replace(/(.{64})/g, '$1\n')],
    ['100,000 lines that begin alike', linesOf(100_000, 8)],
    [
      '60,000 lines of other lengths',
      Array.from({ length: 1_400 }, (_, i) => `${'q'.repeat(i)}${i}`).join('\n'),
    ],
    ['one character, a million times', 'q'.repeat(MIB)],
    ['what every form writes in another way', '"ö\\/ \t'.repeat(150_000)],
  ])('handles %s', (_what, value) => {
    const redact = redactor([value, 'hunter2']);
    expect(redact('the password is hunter2, and no other')).toBe('the password is ***, and no other');
    expect(redact(`all of it: ${value.trim()}`)).toMatch(/^all of it: \*\*\*…?$/);
    const lines = value.split('\n');
    const line = lines[Math.floor(lines.length / 2)]!.trim();
    expect(redact(`one line: <${line}>`)).toMatch(/^one line: <\*\*\*[>…]$/);
    expect(redact('q'.repeat(100_000)).length).toBeLessThanOrEqual(100_000);
  });

  test('handles 20 values of 1 MiB and 10,000 short ones', () => {
    const long = randomBytes(MIB / 2).toString('hex');
    const short = Array.from({ length: 10_000 }, () => randomText(12));
    const redact = redactor([...Array.from({ length: 20 }, (_, i) => `${i}${long}`), ...short]);
    expect(redact(`${short[9_999]} and 19${long}`)).toBe('*** and ***…');
  });

  test('shows nothing of a text that costs too much, because it consists of beginnings of many secrets', () => {
    const values = Array.from({ length: 3_000 }, (_, i) => `${'q'.repeat(i + 4)}z`);
    expect(redactor(values)('q'.repeat(100_000))).toBe('***');
  });

  test.each(['secret-abcd', 'secret-'.repeat(1_000)])(
    'takes little memory for an answer of 4 MiB that a hub makes of its own secrets: %#',
    (value) => {
      const redact = redactor([value]);
      const before = process.memoryUsage().arrayBuffers;
      const shown = redact(`${value} `.repeat(Math.floor((4 * MIB) / (value.length + 1))));
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * MIB);
      expect(shown.replaceAll(/\*{3} /g, '')).toMatch(/^(\*{3}|.{0,3})…$/);
    },
  );

  test('leaves nothing of a value at the end of the examined text, wherever it begins', () => {
    const value = randomText(40);
    const redact = redactor([value]);
    for (let from = 2 ** 18 - 60; from < 2 ** 18; from++) {
      const end = redact(`${' '.repeat(from)}${value}${' '.repeat(MIB)}`).replaceAll(' ', '');
      expect(end.length).toBeLessThanOrEqual('***…'.length);
    }
  });

  test('shows nothing of a text when the masking itself fails, and fails for each text', () => {
    const broken = {
      trim: () => {
        throw new Error('hunter2');
      },
    } as unknown as string;
    const redact = redactor([broken, 'hunter2']);
    expect([redact('it is hunter2'), redact('it is hunter2')]).toEqual(['***', '***']);
  });

  test('leaves no secret in any text', () => {
    const secret = fc.stringMatching(/^[a-z0-9]{4,12}$/);
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1 }), fc.array(fc.string()), (secrets, words) => {
        const given = secrets.map((each, index) => `${words[index] ?? ''}${each}`).join('');
        const redacted = redactor(secrets)(given);
        for (const each of secrets) expect(redacted).not.toContain(each);
      }),
    );
  });

  test('masks any line of text, even one that is not valid Unicode', () => {
    const text = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4 })
      .map((units) => String.fromCharCode(...units))
      .filter((value) => value === value.trim() && !/[\r\n]/.test(value));
    fc.assert(
      fc.property(text, (value) =>
        expect(redactor([value])(`before ${value} after`)).toBe('before *** after'),
      ),
    );
  });
});

describe('RememberedSecrets', () => {
  test('masks current and former values', () => {
    const remembered = new RememberedSecrets(1_000_000);
    remembered.remember(['first value', 'kept value']);
    remembered.remember(['second value', 'kept value']);
    expect(remembered.redact('first value, second value, kept value, third value')).toBe(
      '***, ***, ***, third value',
    );
  });

  test('masks all of 200 former values of 1 MiB, in some kilobytes', () => {
    const remembered = new RememberedSecrets(256 * 1_024);
    const long = randomBytes(MIB / 2).toString('hex');
    for (let i = 0; i < 200; i++) remembered.remember([`password${i}${long}`]);
    expect(remembered.redact(`password0${long}`)).toBe('***…');
    expect(remembered.redact('password123 abc')).toBe('password123 abc');
    expect(remembered.size).toBeLessThan(256 * 1_024);
  });

  test('takes limited memory for any number of former values, of which the oldest are forgotten', () => {
    const remembered = new RememberedSecrets(64 * 1_024);
    for (let i = 0; i < 20_000; i++) remembered.remember([`value ${i} of many`]);
    expect(remembered.size).toBeLessThan(512 * 1_024);
    expect(remembered.redact('value 19999 of many')).toBe('***');
    expect(remembered.redact('value 19000 of many')).toBe('***');
    expect(remembered.redact('value 3 of many')).toBe('value 3 of many');
  });

  test('masks current values that take more memory than is kept for former ones', () => {
    const remembered = new RememberedSecrets(1_024);
    const now = linesOf(10_000, 12);
    remembered.remember(['the first one']);
    for (let i = 0; i < 5; i++) remembered.remember([now, 'hunter2']);
    expect(remembered.redact(`hunter2 ${now} the first one`)).toBe('*** *** ***');
    expect(remembered.size).toBeLessThan(2 * MIB);
  });
});

test('a value is masked in its texts, keys and numbers, and keeps its structure', () => {
  const redact = redactor(['2700', 'hunter2']);
  expect(redactValue({ kelvin: 2700, list: [27001, null, true], hunter2: 'my hunter2' }, redact)).toEqual({
    kelvin: '***',
    list: ['***1', null, true],
    '***': 'my ***',
  });
});
