import { installationOf, sharedBy } from '../../../cli/doctor/installations';

const installation = (namespace: string, settings: Readonly<Record<string, string>>, args: string[] = []) => {
  const env = Object.entries(settings).map(([name, value]) => ({ name, value }));
  const containers = [{ args, env: [...env, { name: 'POD_NAMESPACE' }] }];
  return installationOf({
    metadata: { name: 'hub-operator', namespace },
    spec: { template: { spec: { containers } } },
  });
};
const inA = (settings = {}, args: string[] = []) => installation('a', settings, args);
const inB = (settings = {}, args: string[] = []) => installation('b', settings, args);
const selected = (selector: string) => ({ WATCH_NAMESPACE_SELECTOR: selector });

test.each([
  [inA(), inB(), 'both work in all namespaces'],
  [inA(), inB({ WATCH_NAMESPACES: 'home,cabin' }), 'both work in the namespace home, cabin'],
  [inA({ WATCH_NAMESPACES: 'home' }), inB(), 'both work in the namespace home'],
  [
    inA({ WATCH_NAMESPACES: 'home,cabin' }),
    inB({ WATCH_NAMESPACES: 'cabin,x' }),
    'both work in the namespace cabin',
  ],
  [inA({ WATCH_NAMESPACES: 'home' }), inB({ WATCH_NAMESPACES: 'cabin' }), undefined],
  [inA({}, ['--watch-namespaces=home']), inB({ WATCH_NAMESPACES: 'cabin' }), undefined],
  [inA(selected('x=1')), inB(), 'both work in the namespaces that WATCH_NAMESPACE_SELECTOR selects'],
  [
    inA(selected('x=1')),
    inB(selected('x=1')),
    'both work in the namespaces that WATCH_NAMESPACE_SELECTOR selects',
  ],
  [
    inA(selected('x=1')),
    inB(selected('x=2')),
    'may both work in the namespaces that WATCH_NAMESPACE_SELECTOR selects',
  ],
  [
    inA({ WATCH_NAMESPACES: 'home' }),
    inB(selected('x=1')),
    'may both work in the namespaces that WATCH_NAMESPACE_SELECTOR selects',
  ],
  // Two that share one Lease, two Leases in one namespace, and one that does not start.
  [inA(), inA(), undefined],
  [inA(), inA({ LEASE_NAME: 'other' }), 'both work in all namespaces'],
  [inA({ WORKERS: 'many' }), inB(), undefined],
])('%j and %j: %j', (first, second, words) => expect(sharedBy(first, second)).toBe(words));
