import { unbounded } from '../../../../../operator/base/bounded-task';
import { blueprintTask } from '../../../../../operator/sync/configuration/blueprint/read-blueprint';

const HEADER =
  'blueprint: { name: Lamp, domain: automation, input: { lamp: {}, more: { input: { inner: } } } }\n';

const read = async (text: string, domain = 'automation') => {
  const result = await unbounded.run(blueprintTask, { text, domain, field: 'spec.content' }, '');
  if (result.type !== 'done') throw new Error('it was not read');
  return result.output;
};
const problem = async (text: string, domain?: string) => {
  const result = await read(text, domain);
  return 'problem' in result ? result.problem : undefined;
};

const BOMB = `a0: &a0 [1]\n${Array.from({ length: 20 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`).join('')}`;
const CHAIN = `a0: &a0 [1]\n${Array.from({ length: 101 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}]\n`).join('')}`;

describe('blueprintTask', () => {
  test.each([
    ['inputs, also of sections', `${HEADER}triggers: [!input lamp]\nactions: !input inner\n`],
    ['an input that a template needs', `${HEADER}variables: { a: !input lamp }\n`],
    ['tags of YAML itself', `${HEADER}a: !!str 1\n`],
    [
      'anchors and merges',
      `x: &x { name: Lamp, input: { lamp: } }\nblueprint: { <<: *x, domain: automation }\na: !input lamp\n`,
    ],
    ['the largest number of 64 bits', `${HEADER}a: [18446744073709551615, -9223372036854775808]\n`],
    ['a long number in quotes', `${HEADER}a: "100000000000000000000"\n`],
    ['aliases that stay small', `${HEADER}a: &a [1, 2]\nb: [*a, *a]\n`],
    ['a null that does not end a line of a text', `${HEADER}a: null\nb: "c: null"\n`],
    ['a header without inputs', 'blueprint:\n  name: Lamp\n  domain: automation\n'],
  ])('accepts %s', async (_, text) => {
    expect(await problem(text)).toBeUndefined();
  });

  test.each([
    ['no mapping', '- a\n', 'spec.content, line 1, column 1: there is no mapping blueprint'],
    ['nothing', '', 'there is no mapping blueprint'],
    ['no YAML', 'a: [\n', 'not closed'],
    ['a key that is there twice', `${HEADER}a: 1\na: 2\n`, 'line 3, column 1: the key a occurs twice'],
    ['no name', 'blueprint: { domain: automation }\n', 'blueprint.name is missing'],
    ['a blank name', 'blueprint: { name: " ", domain: automation }\n', 'blueprint.name is missing'],
    ['no domain', 'blueprint: { name: a }\n', 'blueprint.domain is missing: add domain: automation'],
    [
      'another domain',
      'blueprint: { name: a, domain: script }\n',
      'blueprint.domain is script, and spec.domain is automation',
    ],
    [
      'an undeclared input',
      `${HEADER}a: !input other\n`,
      'line 2, column 11: the input other is not declared',
    ],
    ['the name of a section', `${HEADER}a: !input more\n`, 'the input more is not declared'],
    ['an input without a name', `${HEADER}a: !input [lamp]\n`, '!input takes the name of an input'],
    [
      'an input that is declared twice',
      'blueprint: { name: a, domain: automation, input: { a: , b: { input: { a: } } } }\n',
      'the input a is declared twice',
    ],
    ['a secret', `${HEADER}a: !secret b\n`, '!secret is not accepted'],
    ['a file of the hub', `${HEADER}a: !include /etc/passwd\n`, '!include is not accepted'],
    ['bytes', `${HEADER}a: !!binary aGVsbG8=\n`, 'line 2, column 13: !!binary is not accepted'],
    ['a set', `${HEADER}a: !!set { b, c }\n`, '!!set is not accepted'],
    ['a number that is too long', `${HEADER}a: 100_000_000_000_000_000_000\n`, 'more than 64 bits'],
    ['a negative number that is too long', `${HEADER}a: -9223372036854775809\n`, 'more than 64 bits'],
    ['a hexadecimal number that is too long', `${HEADER}a: 0x10000000000000000\n`, 'more than 64 bits'],
    ['a deep list', `${HEADER}a: ${'['.repeat(101)}${']'.repeat(101)}\n`, 'nested too deeply'],
    ['an alias in itself', `${HEADER}a: &a [*a]\n`, 'nested too deeply'],
    ['aliases that expand to much', `${HEADER}${BOMB}`, 'expand to more than'],
    ['aliases that nest deeply', `${HEADER}${CHAIN}`, 'nested too deeply'],
    ['a null at the end of a line of a text', `${HEADER}a: |\n  b: null\n  c\n`, 'the hub removes'],
    ['a variable of the pod', `${HEADER}a: !env_var SUPERVISOR_TOKEN\n`, '!env_var is not accepted'],
    [
      'a version of two numbers',
      'blueprint: { name: a, domain: automation, homeassistant: { min_version: 2026.11 } }\n',
      'homeassistant.min_version is 2026.11, and must be like 2026.11.0',
    ],
  ])('refuses %s', async (_, text, expected) => {
    expect(await problem(text)).toContain(expected);
  });

  test('reports the version that is needed, and whether the text has a source', async () => {
    const header = 'name: a, domain: script, homeassistant: { min_version: 2026.9.1 }';
    expect(await read(`blueprint: { ${header} }\n`, 'script')).toEqual({
      minVersion: '2026.9.1',
      hasSource: false,
    });
    expect(await read(`blueprint: { ${header}, source_url: https://a }\n`, 'script')).toMatchObject({
      hasSource: true,
    });
  });

  test('runs in place only for a short text', () => {
    const given = (text: string) => ({ text, domain: 'automation', field: '' });
    expect(blueprintTask.inPlace?.(given(HEADER))).toEqual({ hasSource: false });
    expect(blueprintTask.inPlace?.(given(HEADER + '#'.repeat(9_000)))).toBeUndefined();
  });
});
