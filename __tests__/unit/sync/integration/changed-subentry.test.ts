import { type Integrations, oneForm } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

// Flows that should have made a subentry and have changed the former one instead (rules.md, "Integrations").

let house: House;
let integrations: Integrations;

beforeEach(() => {
  house = new House();
  integrations = house.integrations;
});

async function settled() {
  let outcome = await house.settle('one');
  for (let pass = 0; pass < 5; pass++) {
    await house.clock.advance(2_000);
    outcome = await house.settle('one');
  }
  return outcome;
}

test('a subentry that a user makes in the meantime is not renamed, and does not replace the former one', async () => {
  const types = { lamp: { supports_reconfigure: false } };
  let isChange = false;
  integrations.scriptOf = (request) =>
    request.kind === 'subentries'
      ? oneForm(['state'], () => {
          integrations.addSubentry('lamp', isChange ? 'Of a person' : 'Lamp');
          return isChange ? { type: 'abort', reason: 'reconfigure_successful' } : { type: 'create_entry' };
        })
      : oneForm(['host'], () => integrations.created({ supported_subentry_types: types }));
  const lamp = (state: string) => [{ type: 'lamp', title: 'Lamp', values: texts({ state }) }];
  const spec = { configuration: texts({ host: 'a' }), reconfigure: 'Recreate' as const };
  house.apply('one', { ...spec, subentries: lamp('1') });
  expect(await settled()).toMatchObject({ type: 'Ready' });
  isChange = true;
  house.apply('one', { ...spec, subentries: lamp('2') });
  expect(await settled()).toMatchObject({ type: 'Ready' });
  expect(integrations.subentries.map(({ title }) => title)).toEqual(['Lamp', 'Of a person']);
});
