import { withFields } from '../../../cli/pull/file-text';
import { printDocument } from '../../../cli/yaml/print';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import { freshNamespace, mustKubectl } from '../../cluster';
import fc from '../../fast-check';

type Variables = Readonly<Record<string, unknown>>;

const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom(...`[a "'\\:#{}\n\t ]`), maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 20 }).filter((each) => !/\p{Cs}/u.test(each)),
  fc.constantFrom('on', 'Y', '~', '0o7', '0x1F', '1_000', '1e3', '.inf', '=', '<<', '2026-01-01', 'e5'),
  fc.constantFrom(
    'a\u0085b',
    'a \u2028 b',
    '\ufeffa',
    '\ufffe',
    '\u007f',
    '\u009d',
    'a\r\nb',
    '---\na',
    'a\n \nb',
  ),
);
const variables = fc.dictionary(texts, fc.oneof(texts, fc.array(texts), fc.integer(), fc.constant(null)));

const resource = (name: string, given: Variables) => ({
  apiVersion: GROUP_VERSION,
  kind: 'HubScript',
  metadata: { name },
  spec: { hubRef: { name: 'villa' }, alias: 'A', sequence: [], variables: given },
});

test('kubectl reads the original values in the files that export and pull write', async () => {
  const namespace = await freshNamespace('yaml');
  const given = fc.sample(variables, 150);
  const others = fc.sample(variables, 150);
  const documents = given.flatMap((each, index) => {
    const exported = printDocument(resource(`exported-${index}`, each));
    const before = printDocument(resource(`pulled-${index}`, each));
    return [
      exported,
      withFields({
        file: 'f',
        text: before,
        kind: 'HubScript',
        name: `pulled-${index}`,
        fields: { variables: others[index] },
      }),
    ];
  });
  const read = await mustKubectl(
    ['create', '--dry-run=client', '--validate=false', '--output=json', '--filename=-'],
    { namespace, input: documents.join('---\n') },
  );
  const objects = read
    .split(/\n(?=\{)/)
    .map((each) => JSON.parse(each) as ReturnType<typeof resource>)
    .flatMap((each) => ('items' in each ? (each.items as ReturnType<typeof resource>[]) : [each]));
  expect(objects.map(({ metadata: { name }, spec }) => [name, spec.variables])).toEqual(
    JSON.parse(
      JSON.stringify(
        given.flatMap((each, index) => [
          [`exported-${index}`, each],
          [`pulled-${index}`, others[index]],
        ]),
      ),
    ),
  );
});
