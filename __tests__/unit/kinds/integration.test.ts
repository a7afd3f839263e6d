import { integration, type HubIntegration } from '../../../operator/kinds/integration';

const resource = (spec: object, status?: object) =>
  ({ spec: { hubRef: { name: 'villa' }, domain: 'random', ...spec }, status }) as unknown as HubIntegration;

describe('integration', () => {
  const host = (value: string) => ({ configuration: { host: { value } } });
  const identity = (spec: object, status?: object) => integration.identity!(resource(spec, status));

  test('two resources of one domain and title are duplicates, and without a title those with the same answers', () => {
    expect(identity({ title: 'Dice' })).toBe('random/Dice');
    expect(identity({ title: 'Dice', ...host('a') })).toBe('random/Dice');
    expect(identity(host('a'))).toBe(identity(host('a'), { entryID: '1' }));
    expect(identity(host('a'))).not.toBe(identity(host('b')));
    const kept = (spec: object) => integration.keptObject!(resource(spec, { entryID: '1' }));
    expect(kept(host('a'))).toBe('1');
    expect(kept({ title: 'Dice' })).toBeUndefined();
    expect(identity({ steps: [{ stepId: 'user', menuOption: 'sensor' }] })).not.toBe(identity({}));
  });
});
