import { withFields } from '../../../cli/pull/file-text';
import { Editor } from '../../../cli/yaml/edit';

// The YAML editor is made faulty here. Its text is read back before it is written to a user's file.

const BEFORE = `# head
kind: HubScript
metadata: {name: a}
spec:
  alias: Porch # where
  description: "on"
  max: 0x10
  state: yes
---
kind: HubScript
metadata: {name: b}
spec: {alias: Other}
`;
const AFTER = BEFORE.replace('Porch', 'Hall');

const pull = () =>
  withFields({ file: 'f.yaml', text: BEFORE, kind: 'HubScript', name: 'a', fields: { alias: 'Hall' } });

/** Damages the first results of the editor. */
function damage(count: number, change: (text: string) => string) {
  const result = Editor.prototype.result;
  let done = 0;
  return jest.spyOn(Editor.prototype, 'result').mockImplementation(function (this: Editor) {
    const text = result.call(this);
    return (done += 1) > count ? text : change(text);
  });
}

afterEach(() => jest.restoreAllMocks());

const damages: readonly (readonly [string, (text: string) => string])[] = [
  ['leaves the field as it was', (text) => text.replace('Hall', 'Porch')],
  ['changes another field', (text) => text.replace('max: 0x10', 'max: 0x11')],
  ['adds a field', (text) => text.replace('  max:', '  mode: single\n  max:')],
  ['loses a field', (text) => text.replace('  max: 0x10\n', '')],
  ['loses the quotes of a word that kubectl takes for true', (text) => text.replace('"on"', 'on')],
  ['quotes a word that kubectl takes for true', (text) => text.replace('yes', '"yes"')],
  ['changes a word that only readers of YAML 1.2 take for a text', (text) => text.replace('yes', 'true')],
  ['changes the name', (text) => text.replace('name: a', 'name: c')],
  ['changes another document', (text) => text.replace('Other', 'Others')],
  ['loses another document', (text) => text.slice(0, text.indexOf('---'))],
  ['adds a document', (text) => `${text}---\na: 1\n`],
  ['writes what is no YAML', (text) => text.replace('Hall', '[')],
];

describe('withFields', () => {
  test('changes only the field when the editor works', () => {
    expect(pull()).toBe(AFTER);
  });

  test.each(damages)('writes the field in another way when the editor %s', (_, change) => {
    const result = damage(1, change);
    expect(pull()).toBe(AFTER);
    expect(result).toHaveBeenCalledTimes(2);
  });

  test.each(damages)('refuses to write when the editor always %s', (_, change) => {
    damage(Infinity, change);
    expect(pull).toThrow('f.yaml: alias cannot be changed without changing something else');
  });
});
