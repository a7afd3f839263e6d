import { ObjectOwnership, ownerReferenceTo } from '../../../operator/runtime/object-ownership';
import { widget } from './objects';

const ownership = new ObjectOwnership('example.org');
const named = (name: string, uid = name) => widget({ metadata: { name, uid } });
const LONG = 'a-name-of-a-resource-as-long-as-kubernetes-allows-it-and-longer-than-a-label';

const made = (owner: ReturnType<typeof named>, ownerReference = true) => ({
  metadata: {
    name: 'made',
    namespace: 'home',
    labels: ownership.labels(owner),
    ...(ownerReference && { ownerReferences: [ownerReferenceTo(owner)] }),
  },
});

describe('ObjectOwnership', () => {
  test.each(['short', LONG])('names the owner %s in a label that Kubernetes accepts', (name) => {
    for (const value of Object.values(ownership.labels(named(name))))
      expect(value).toMatch(/^[a-zA-Z0-9]([-a-zA-Z0-9_.]{0,61}[a-zA-Z0-9])?$/);
  });

  test('distinguishes two long names with the same beginning', () => {
    const [one, two] = [named(`${LONG}-1`), named(`${LONG}-2`)];
    expect(ownership.isOwnedBy(made(one, false), one)).toBe(true);
    expect(ownership.isOwnedBy(made(one, false), two)).toBe(false);
  });

  test('trusts the owner reference, not a label that was copied', () => {
    expect(
      ownership.isOwnedBy(
        { metadata: { ...made(named('a')).metadata, ownerReferences: [ownerReferenceTo(named('b'))] } },
        named('a'),
      ),
    ).toBe(false);
  });
});
