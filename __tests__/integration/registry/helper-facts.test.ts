import fc from '../../fast-check';
import { byId } from '../../../operator/sync/registry/identity';
import { patternProblem } from '../../../operator/sync/registry/helpers/text-pattern';
import { unitsOf } from '../../../operator/sync/registry/helpers/number-units';
import { anEntry } from '../../unit/sync/registry/entries';
import { runPython } from '../../cluster/python-script';

// Facts about the hub that the operator contains are compared with the hub's own code.

test('what is taken as a pattern is compiled by the Python of the hub', async () => {
  const part = fc.constantFrom(
    ...[
      'a',
      'z',
      '0',
      '9',
      '-',
      '^',
      '$',
      '.',
      '|',
      '(',
      ')',
      '(?:',
      '(?=',
      '(?!',
      '[',
      '[^',
      ']',
      '{',
      '}',
      '{2}',
      '{1,}',
      '{2,3}',
      ',',
    ],
    ...[
      '*',
      '+',
      '?',
      '\\',
      '\\d',
      '\\w',
      '\\S',
      '\\b',
      '\\B',
      '\\-',
      '\\]',
      '\\x41',
      '\\u00e4',
      '\\n',
      'ä',
      '🛋',
      ' ',
      '/',
      '&&',
      '<',
      '=',
      '!',
      ':',
      '#',
    ],
  );
  const patterns = fc
    .sample(fc.array(part, { maxLength: 9 }), 60_000)
    .map((parts) => parts.join(''))
    .filter((pattern) => patternProblem(pattern) === undefined);
  expect(new Set(patterns).size).toBeGreaterThan(1_000);
  const script = `
import json, re, sys
bad = []
for pattern in json.loads(sys.argv[1]):
    try:
        re.compile(pattern)
    except Exception as error:
        bad.append([pattern, str(error)])
print(json.dumps(bad))
`;
  const found: unknown[] = [];
  const distinct = [...new Set(patterns)];
  for (let index = 0; index < distinct.length; index += 2_000) {
    const { output } = await runPython(script, JSON.stringify(distinct.slice(index, index + 2_000)));
    found.push(...(JSON.parse(output.split('\n').find((line) => line.startsWith('['))!) as unknown[]));
  }
  expect(found).toEqual([]);
});

test('a name that is sent at once becomes the id that the resource asks for', async () => {
  const sign = fc.constantFrom(...'aAzZ09 _-.,\'()/:&;#äÖéñøßẞİı光йﬁ①½ⅷ—–"+%!?'.split(''), 'e\u0301');
  const names = fc
    .sample(fc.array(sign, { minLength: 1, maxLength: 12 }), 10_000)
    .map((signs) => signs.join(''));
  const script = `
import json, sys
from homeassistant.util import slugify
print(json.dumps([slugify(name) for name in json.loads(sys.argv[1])]))
`;
  let sent = 0;
  for (let index = 0; index < names.length; index += 2_000) {
    const some = names.slice(index, index + 2_000);
    const { output } = await runPython(script, JSON.stringify(some));
    const slugs = JSON.parse(output.split('\n').find((line) => line.startsWith('['))!) as string[];
    for (const [at, name] of some.entries()) {
      const expected = plain(name);
      const isSent = byId.newName(anEntry('HubHelper', 'x', { spec: { name, id: expected } })) === name;
      if (isSent && expected !== '') expect({ name, id: slugs[at] }).toEqual({ name, id: expected });
      if (isSent) sent += 1;
    }
  }
  expect(sent).toBeGreaterThan(100);
});

const plain = (name: string) =>
  name
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');

test('the units of a device class are those of the hub', async () => {
  const script = `
import json
from enum import Enum
from homeassistant.components.number.const import DEVICE_CLASS_UNITS
def units(values):
    for value in values:
        if isinstance(value, type):
            yield from (each.value for each in value)
        else:
            yield value.value if isinstance(value, Enum) else value
print(json.dumps({key.value: sorted(str(unit) for unit in units(values)) for key, values in DEVICE_CLASS_UNITS.items()}))
`;
  const { output } = await runPython(script);
  const hubs = JSON.parse(output.split('\n').find((line) => line.startsWith('{'))!) as Record<
    string,
    string[]
  >;
  expect(Object.keys(hubs).length).toBeGreaterThan(40);
  for (const [name, units] of Object.entries(hubs))
    expect({
      name,
      units: unitsOf(name)!
        .map((unit) => unit ?? 'None')
        .sort(),
    }).toEqual({ name, units });
});
