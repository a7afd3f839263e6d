import { integration, type HubIntegration } from '../../../operator/kinds/integration';

const resource = (spec: object, status?: object) =>
  ({ spec: { hubRef: { name: 'villa' }, domain: 'random', ...spec }, status }) as unknown as HubIntegration;

describe('integration', () => {
  test('two resources of one domain and title are duplicates, and two that own the same entry', () => {
    expect(integration.identity!(resource({ title: 'Dice' }))).toBe('random/Dice');
    expect(integration.identity!(resource({ title: 'Dice' }, { entryID: '1' }))).toBe('random/Dice');
    expect(integration.identity!(resource({}, { entryID: '1' }))).toBe('1');
    expect(integration.identity!(resource({}))).toBeUndefined();
  });
});
