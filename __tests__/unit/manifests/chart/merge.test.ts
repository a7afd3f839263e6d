import { merge } from '../../../../manifests/chart/merge';
import { Template } from '../../../../manifests/chart/template';
import { defaultSettings, type SynthSettings } from '../../../../manifests/settings';

const selfSigned: SynthSettings = defaultSettings;
const certManager: SynthSettings = { ...defaultSettings, webhook: 'cert-manager' };
const none: SynthSettings = { ...defaultSettings, webhook: undefined };

function written(...variants: readonly (readonly [SynthSettings, object])[]): string[] {
  const template = new Template();
  return template.render(merge(template, new Map(variants)) as object).split('\n');
}

const MODE = 'include "hub-operator.webhook" $';

describe('merge', () => {
  test('objects that do not differ have no condition', () => {
    expect(written([selfSigned, { a: 1 }], [none, { a: 1 }])).toEqual(['a: 1']);
  });

  test('a field that some have is in a condition, after the others', () => {
    expect(written([selfSigned, { a: 1, b: 2 }], [none, { b: 2 }])).toEqual([
      'b: 2',
      `{{- if ${MODE} }}`,
      'a: 1',
      '{{- end }}',
    ]);
  });

  test('an item that some have is in a condition, and items with one name are merged', () => {
    const list = (...items: object[]) => ({ list: items });
    expect(
      written(
        [selfSigned, list({ name: 'a', value: 'x' }, { name: 'b' })],
        [certManager, list({ name: 'a', value: 'y' }, { name: 'b' })],
        [none, list({ name: 'b' })],
      ),
    ).toEqual([
      'list:',
      `{{- if ${MODE} }}`,
      '  - name: a',
      `    value: {{ if eq (${MODE}) "self-signed" }}x{{ else if eq (${MODE}) "cert-manager" }}y{{ end }}`,
      '{{- end }}',
      '  - name: b',
    ]);
  });

  test('a difference that no value of the chart makes is an error', () => {
    const other = { ...defaultSettings, replicas: 2 };
    expect(() => written([selfSigned, { a: 1 }], [other, {}])).toThrow(
      'a switch for some of its objects is missing',
    );
  });

  test('numbers that differ are an error', () => {
    expect(() => written([selfSigned, { a: 1 }], [none, { a: 2 }])).toThrow(
      'differ in [1,2], which are not texts',
    );
  });
});
