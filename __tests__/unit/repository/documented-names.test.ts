import { kinds } from '../../../operator/kinds';
import {
  finalizerOf,
  HUB_LABEL,
  operatorAnnotations,
  userAnnotations,
} from '../../../operator/kinds/annotations';
import { API_GROUP, API_VERSION } from '../../../operator/kinds/group';
import { eventReasons, otherConditions, readyReasons } from '../../../operator/kinds/reasons';
import { places } from '../../schema/places';
import { sourceFiles } from './sources';

// Checks that every field, annotation and label named in the docs or by `kubectl explain` exists under
// exactly that name.

/** Texts to be checked, by the place where they occur. */
const texts: ReadonlyMap<string, string> = new Map([
  ...[...sourceFiles('docs', 'README.md')].filter(([file]) => file.endsWith('.md')),
  ...places.map(({ kind, path, schema }): [string, string] => [`${kind}.${path}`, schema.description ?? '']),
  ...kinds.map(({ kind, description }): [string, string] => [kind, description]),
  ['reasons', JSON.stringify([readyReasons, otherConditions, eventReasons])],
]);

/** Returns the texts in backquotes on one line, each with the text before it. */
function quoted(text: string): { readonly name: string; readonly before: string }[] {
  const found = [...text.replace(/^```[^]*?^```/gm, '').matchAll(/(?<=^|[^`])`([^`\n]+)`/gm)];
  return found.map(({ 1: name, index }) => ({ name: name!, before: text.slice(0, index) }));
}

const wrong = (isWrong: (name: string, where: string) => boolean) =>
  [...texts].flatMap(([where, text]) =>
    quoted(text).flatMap(({ name }) => (isWrong(name, where) ? [`${where}: \`${name}\``] : [])),
  );

/** Removes indices and keys of maps from a path: `spec.entities.state`. */
const plain = (path: string) => path.replace(/\[[^\]]*\]|\.\*/g, '');
const paths = new Set(places.map(({ path }) => plain(path)));
/** Fields whose inner fields are not in the schema: `podTemplate`, `configuration`. */
const open = places
  .filter(({ schema }) => schema['x-kubernetes-preserve-unknown-fields'])
  .map(({ path }) => plain(path));
/** The first steps of paths in `spec` or `status` that continue. */
const roots = new Set(
  places.flatMap(({ path, schema }) => {
    const [, root, ...deeper] = plain(path).split('.');
    return root !== undefined && deeper.length === 0 && (schema.type === 'object' || schema.type === 'array')
      ? [root]
      : [];
  }),
);

function isField(path: string): boolean {
  return paths.has(path) || open.some((each) => path.startsWith(`${each}.`)) || isKeyOfMap(path);
}

const maps = places.filter(({ schema }) => schema.additionalProperties).map(({ path }) => plain(path));
const isKeyOfMap = (path: string): boolean => maps.some((each) => path.startsWith(`${each}.`));

test('each field that is named exists', () => {
  const isWrong = (name: string) => {
    const [path = ''] = name.split(/:? /);
    if (!/^[a-z][A-Za-z]*(\[[^\]]*\])?(\.[A-Za-z]+(\[[^\]]*\])?)+$/.test(path)) return false;
    const [root = ''] = plain(path).split('.');
    if (root === 'spec' || root === 'status') return !isField(plain(path));
    return roots.has(root) && !['spec', 'status'].some((part) => isField(`${part}.${plain(path)}`));
  };
  expect(wrong(isWrong)).toEqual([]);
});

const known = new Set<string>([
  ...Object.values(userAnnotations),
  ...Object.values(operatorAnnotations),
  ...kinds.map(({ kind }) => finalizerOf(kind)),
  ...[HUB_LABEL, `${API_GROUP}/${API_VERSION}`],
]);
const bare = new Set([...known].map((name) => name.slice(API_GROUP.length + 1)));

test('each annotation and label of the operator is named in full, and exists', () => {
  const isWrong = (name: string) => {
    const [key = ''] = name.split(/[:=]/);
    return key.startsWith(`${API_GROUP}/`) && !known.has(key);
  };
  expect(wrong(isWrong)).toEqual([]);
  const shortened = [...texts].flatMap(([where, text]) =>
    quoted(text).flatMap(({ name, before }) => {
      const [key = ''] = name.split(/[:=]/);
      return /(annotation|label)s?\s+$/i.test(before) && bare.has(key) ? [`${where}: \`${name}\``] : [];
    }),
  );
  expect(shortened).toEqual([]);
  const ofUsers = Object.values(userAnnotations).map((name) => name.slice(API_GROUP.length + 1));
  expect(wrong((name) => ofUsers.includes(name.split(/[:=]/)[0]!))).toEqual([]);
});

test('each way of writing a name wrongly is found', () => {
  expect(quoted('set the annotation `dry-run`, `storage.className`')).toMatchObject([
    { name: 'dry-run', before: 'set the annotation ' },
    { name: 'storage.className' },
  ]);
  expect([isField('spec.storage.className'), isField('spec.storage.storageClassName')]).toEqual([
    false,
    true,
  ]);
  expect(roots.has('storage')).toBe(true);
});
