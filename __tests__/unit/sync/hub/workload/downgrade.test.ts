import { operatorAnnotations, userAnnotations } from '../../../../../operator/kinds/annotations';
import type { ApiRequest } from '../../../../../operator/runtime/api-client';
import type { Claim } from '../../../../../operator/sync/hub-pod/owned-objects';
import {
  allowsDowngrade,
  leftAllowance,
  recordRanVersion,
  refuseDowngrade,
} from '../../../../../operator/sync/hub/workload/downgrade';
import { objectMetadata } from '../../../object-metadata';
import { aHub, aHubContext } from '../../fixtures';

/** Returns a Hub of this version, with the annotation, and its claim, on which a version has run. */
function given(version: string, { allowed, ran }: { readonly allowed?: string; readonly ran?: string }) {
  const annotations = allowed === undefined ? {} : { [userAnnotations.allowDowngrade]: allowed };
  const { hub, spec } = aHubContext(aHub({ metadata: { annotations }, spec: { version } }));
  const claim = {
    metadata: {
      ...objectMetadata,
      name: 'villa-config',
      annotations: ran === undefined ? {} : { [operatorAnnotations.ranVersion]: ran },
    },
  } as unknown as Claim;
  return { hub, spec, claim };
}

test.each([
  [undefined, false],
  ['true', true],
  ['2026.10.0', true],
  ['2026.9.0', false],
  ['2026.11.0', false],
  ['yes', false],
])('the annotation with the value %j allows 2026.10.0 after 2026.11.0: %j', async (allowed, isAllowed) => {
  const { hub, spec, claim } = given('2026.10.0', { ...(allowed && { allowed }), ran: '2026.11.0' });
  expect(allowsDowngrade(hub, spec)).toBe(isAllowed);
  const refusal = refuseDowngrade(hub, spec, claim);
  if (isAllowed) expect(refusal).toBeUndefined();
  else expect(refusal).toMatch(/annotate the Hub with hub-operator.dev\/allow-downgrade=2026\.10\.0\.$/);
  const requests: ApiRequest[] = [];
  const cluster = { request: (request: ApiRequest) => Promise.resolve(void requests.push(request)) };
  await recordRanVersion({ cluster: cluster as never }, { hub, spec, claim }, '2026.10.0');
  expect(requests).toHaveLength(isAllowed ? 1 : 0);
});

test.each<[string, { allowed?: string; ran?: string }, boolean]>([
  ['no annotation', { ran: '2026.10.0' }, false],
  ['any version, which is needed', { allowed: 'true', ran: '2026.11.0' }, false],
  ['any version, after its use', { allowed: 'true', ran: '2026.10.0' }, true],
  ['any version, of a volume without a record', { allowed: 'true' }, true],
  ['this version, after its use', { allowed: '2026.10.0', ran: '2026.10.0' }, false],
  ['an older version, after an update', { allowed: '2026.9.0', ran: '2026.10.0' }, true],
])('a leftover annotation is named: %s', (_, state, isNamed) => {
  const { hub, spec, claim } = given('2026.10.0', state);
  const words = leftAllowance(hub, spec, claim);
  if (isNamed)
    expect(words).toContain('kubectl -n home annotate hub villa hub-operator.dev/allow-downgrade-');
  else expect(words).toBeUndefined();
});
