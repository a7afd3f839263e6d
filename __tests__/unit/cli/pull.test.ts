import { parseAllDocuments } from 'yaml';
import { withFields } from '../../../cli/pull/file-text';
import fc from '../../fast-check';

const file = `# The lights.
apiVersion: hub-operator.dev/v1
kind: HubAutomation
metadata: { name: porch } # by the door
spec:
  hubRef: { name: villa }
  alias: Porch   # shown to people
  # When the sun sets.
  triggers:
    - trigger: sun
      event: sunset # dusk
    # And by motion.
    - trigger: state
      entity_id: binary_sensor.porch
      to: 'on'
  mode: single

  actions:
    - action: light.turn_on
      target: { entity_id: light.porch }
---
# Another one.
kind: HubLabel
metadata:
  name: night
spec:
  name:   Night
`;

const pull = (fields: Record<string, unknown>, text = file) =>
  withFields({ file: 'home.yaml', text: text, kind: 'HubAutomation', name: 'porch', fields: fields });

/** Returns the lines that differ, as `diff` shows them. */
function changedLines(before: string, after: string): string[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !fresh.includes(line)).map((line) => `-${line}`),
    ...fresh.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

describe('withFields', () => {
  test('a changed text changes its line, and its comment stays', () => {
    expect(changedLines(file, pull({ alias: 'Front door' }))).toEqual([
      '-  alias: Porch   # shown to people',
      '+  alias: Front door   # shown to people',
    ]);
  });

  test('an item that is added to a list leaves the others with their comments', () => {
    const triggers = [
      { trigger: 'sun', event: 'sunset' },
      { trigger: 'time', at: '22:00:00' },
      { trigger: 'state', entity_id: 'binary_sensor.porch', to: 'on' },
    ];
    expect(changedLines(file, pull({ triggers })).filter((line) => !line.includes('Porch'))).toEqual([
      '+    - trigger: time',
      "+      at: '22:00:00'",
    ]);
  });

  test('a change within an item keeps the rest of the item', () => {
    const triggers = [
      { trigger: 'sun', event: 'sunset', offset: '-00:30' },
      { trigger: 'state', entity_id: 'binary_sensor.porch', to: 'on' },
    ];
    const changed = pull({ triggers });
    expect(changed).toContain("event: sunset # dusk\n      offset: '-00:30'\n");
    expect(changed).toContain(
      "# And by motion.\n    - trigger: state\n      entity_id: binary_sensor.porch\n      to: 'on'\n",
    );
  });

  test('a field that the hub no longer has is removed, and a new one comes last', () => {
    const changed = pull({ mode: undefined, description: 'on' });
    expect(changed).not.toContain('mode: single');
    expect(changed).toContain("      target: { entity_id: light.porch }\n  description: 'on'\n---\n");
  });

  test('the other documents stay unchanged, byte for byte', () => {
    expect(pull({ alias: 'X' }).split('---\n')[1]).toBe(file.split('---\n')[1]);
    const label = withFields({
      file: 'home.yaml',
      text: file,
      kind: 'HubLabel',
      name: 'night',
      fields: { name: 'Dark' },
    });
    expect(label.split('---\n')[0]).toBe(file.split('---\n')[0]);
    expect(label).toContain('# Another one.\nkind: HubLabel');
    expect(label).toContain('name:   Dark\n');
  });

  test('lists without indentation stay like that', () => {
    const text = file.replace(/^ {4}(- |# | {2})/gm, '  $1');
    const changed = pull({ actions: [{ action: 'light.turn_off' }] }, text);
    expect(changed).toContain('  actions:\n  - action: light.turn_off\n');
  });

  test('a file without the resource is refused', () => {
    expect(() =>
      withFields({ file: 'home.yaml', text: file, kind: 'HubScene', name: 'porch', fields: {} }),
    ).toThrow('home.yaml has no HubScene porch');
  });

  test('of two resources with one name, that of the namespace is changed', () => {
    const of = (namespace: string, alias: string) =>
      `kind: HubLabel\nmetadata: { name: night, namespace: ${namespace} }\nspec: { name: ${alias} }\n`;
    const given = {
      file: 'f',
      text: `${of('a', 'x')}---\n${of('b', 'Dark')}`,
      kind: 'HubLabel',
      name: 'night',
    };
    expect(withFields({ ...given, namespace: 'b', fields: { name: 'Black' } })).toBe(
      `${of('a', 'x')}---\n${of('b', 'Black')}`,
    );
  });

  test('any list of items becomes equal to that of the hub', () => {
    const item = fc.record({
      a: fc.constantFrom('x', 'on', 'y z'),
      b: fc.option(fc.integer({ min: 0, max: 3 })),
    });
    const items = fc.array(item, { maxLength: 6 });
    fc.assert(
      fc.property(items, items, (before, after) => {
        const text = withFields({
          file: 'f',
          text: file,
          kind: 'HubAutomation',
          name: 'porch',
          fields: { actions: before },
        });
        const [document] = parseAllDocuments(pull({ actions: after }, text), { version: '1.1' });
        expect((document!.toJS() as { spec: object }).spec).toMatchObject({ alias: 'Porch', actions: after });
      }),
    );
  });
});
