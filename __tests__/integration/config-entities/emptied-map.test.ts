import { configuration, script, automation } from '../../../operator/kinds';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import { freshNamespace, mustKubectl } from '../../cluster';

const hubRef = { name: 'villa' };

// Argo CD and Flux use server-side apply.
test.each([
  [script, { alias: 'S', sequence: [] }, 'variables', { a: 1 }],
  [script, { alias: 'S', sequence: [] }, 'fields', { a: { name: 'A' } }],
  [automation, { alias: 'A', triggers: [], actions: [] }, 'triggerVariables', { a: 1 }],
  [configuration, { configuration: 'a:\n' }, 'files', { 'a.yaml': 'b: 1\n' }],
])('server-side apply empties a map of %#', async ({ kind, plural }, spec, field, content) => {
  const namespace = await freshNamespace('emptied');
  const apply = (value: object) =>
    mustKubectl(['apply', '--server-side', '--filename=-'], {
      namespace,
      input: JSON.stringify({
        apiVersion: GROUP_VERSION,
        kind,
        metadata: { name: 'a' },
        spec: { hubRef, ...spec, [field]: value },
      }),
    });
  const stored = async () =>
    JSON.parse(
      await mustKubectl(['get', plural, 'a', `--output=jsonpath={.spec.${field}}`], { namespace }),
    ) as object;
  await apply(content);
  expect(await stored()).toEqual(content);
  await apply({});
  expect(await stored()).toEqual({});
});
