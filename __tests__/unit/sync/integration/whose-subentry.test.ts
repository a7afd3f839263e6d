import { type Integrations, oneForm } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

// To whom a subentry belongs that an entry has after a flow that made one (rules.md, "Integrations").

let house: House;
let integrations: Integrations;

beforeEach(() => {
  house = new House();
  integrations = house.integrations;
});

const spec = { configuration: texts({ host: 'a' }) };

async function settled() {
  let outcome = await house.settle('one');
  for (let pass = 0; pass < 5; pass++) {
    await house.clock.advance(2_000);
    outcome = await house.settle('one');
  }
  return outcome;
}

const unclear = (title: string) => ({
  type: 'Stalled',
  reason: 'ConfigFlowFailed',
  message: expect.stringContaining(`“${title}”`) as unknown,
});

describe('a subentry that a user makes while the flow of another one runs', () => {
  const lamp = { type: 'lamp', title: 'Lamp', values: texts({ state: '1' }) };
  const titles = () => integrations.subentries.map(({ title }) => title);

  async function madeBeside(type: string) {
    const types = { lamp: { supports_reconfigure: false }, door: { supports_reconfigure: false } };
    integrations.scriptOf = (request) =>
      request.kind === 'subentries'
        ? oneForm(['state'], () => {
            integrations.addSubentry(type, 'Of a person');
            integrations.addSubentry('lamp', 'Untitled');
            return { type: 'create_entry' };
          })
        : oneForm(['host'], () => integrations.created({ supported_subentry_types: types }));
    house.apply('one', { ...spec, subentries: [lamp] });
    return settled();
  }

  test('is not renamed if it is of another type', async () => {
    expect(await madeBeside('door')).toMatchObject({ type: 'Ready' });
    expect(titles()).toEqual(['Of a person', 'Lamp']);
  });

  test('is not distinguished from it if it is of the same type: neither is renamed, and no third one is made', async () => {
    expect(await madeBeside('lamp')).toMatchObject(unclear('Of a person'));
    expect(titles()).toEqual(['Of a person', 'Untitled']);
    integrations.changeSubentry(
      house.status('one').entryID!,
      integrations.subentries[1]!.subentry_id,
      'Lamp',
    );
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(titles()).toEqual(['Of a person', 'Lamp']);
  });
});
