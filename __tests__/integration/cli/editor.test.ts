import { load } from 'js-yaml';
import { systemClock } from '../../../operator/base/clock';
import { stateOf } from '../../../operator/client/config-entities/states';
import { redactor } from '../../../operator/client/connection/redact';
import { RestClient } from '../../../operator/client/connection/rest';
import { freshNamespace, until } from '../../cluster';
import { findBrowser, HubInBrowser } from '../../cluster/browser';
import { Home } from '../../cluster/home';
import { HubToExport } from '../../cluster/hub-to-export';
import { startTestOperator } from '../../cluster/operator';

// Objects that were saved by the hub's own editor are exported to Git and adopted by the operator. Their
// files stay equal to the byte.

const found = findBrowser();
const inBrowser = 'path' in found ? describe : describe.skip;
const skipped = 'path' in found ? '' : ` (skipped: ${found.obstacle})`;

/** Entities that a user can choose in the editor. */
const ENTITIES = `
sun:
template:
  - binary_sensor:
      - { name: Hall, unique_id: hall, device_class: motion, state: '{{ false }}' }
  - light:
      - name: Lamp
        unique_id: lamp
        state: '{{ true }}'
        level: '{{ 128 }}'
        turn_on: []
        turn_off: []
        set_level: []
`;

inBrowser(`the hub’s editor in a browser${skipped}`, () => {
  let home: Home;
  let villa: HubToExport;
  let hub: HubInBrowser;

  beforeAll(async () => {
    home = new Home(await freshNamespace('editor'));
    const files = { 'automations.yaml': '[]\n', 'scripts.yaml': '', 'scenes.yaml': '' };
    villa = await HubToExport.start(files, ENTITIES);
    hub = await HubInBrowser.open('path' in found ? found.path : '', villa.process.url, villa.token);
  });
  afterAll(async () => {
    await hub?.close();
    await villa?.dispose();
  });

  /** Clicks the button of the page, then the one in the dialog that asks for a name. */
  async function save(name: string): Promise<void> {
    await hub.click('Save');
    await hub.page.getByRole('textbox', { name: 'Name*' }).fill(name);
    await hub.click('Save');
    await saved();
  }

  /** The address of the page has the id once the object is saved. */
  const saved = () => hub.page.waitForURL(/\/edit\/(?!new)/);

  async function addLamp(): Promise<void> {
    await hub.click('Add action');
    await hub.click('By type');
    await hub.click('Light');
    await hub.click(/^Turn on light Turns on/);
    await hub.click('Add target');
    await hub.choose(/^Lamp Light/);
  }

  /** Waits until the hub has loaded the objects, because it answers the editor before that. */
  async function allLoaded(...entityIds: readonly string[]): Promise<void> {
    const { process, token } = villa;
    const rest = new RestClient({ url: process.url, token, clock: systemClock, redact: redactor([]) });
    for (const id of entityIds)
      await until(`${id} is loaded`, async () => (await stateOf(rest, id)) !== undefined);
    rest.close();
  }

  test('an automation, one from a blueprint, a script and a scene are adopted, and their files stay equal to the byte', async () => {
    await hub.goto('/config/automation/edit/new');
    await hub.click('Add trigger');
    await hub.page.getByRole('treeitem', { name: 'Sun', exact: true }).click();
    await hub.click(/^Sunset Triggers/);
    await addLamp();
    await save('Evening');

    await hub.goto('/config/blueprint/dashboard');
    await hub.click('Motion-activated Light');
    await hub.click(/^Select an entity/);
    await hub.choose(/^Hall /);
    await hub.click('Add target');
    await hub.choose(/^Lamp Light/);
    await hub.click('Save'); // the dialog suggests the name of the blueprint
    await saved();

    await hub.goto('/config/script/edit/new');
    await addLamp();
    await save('Good night');

    await hub.goto('/config/scene/edit/new');
    await hub.click(/^Add an entity/);
    await hub.choose(/^Lamp Light/);
    await save('Reading');

    const stored = await villa.stored();
    const [automations, scripts, scenes] = stored.map((text) => load(text));
    expect(automations).toEqual([
      expect.objectContaining({ alias: 'Evening', mode: 'single', conditions: [], description: '' }),
      expect.objectContaining({ use_blueprint: expect.any(Object) as unknown }),
    ]);
    expect(scripts).toEqual({ good_night: expect.objectContaining({ alias: 'Good night' }) as unknown });
    // A saved scene has all current attributes, and a key that only the editor uses.
    const lamp = expect.objectContaining({ state: 'on', friendly_name: 'Lamp', brightness: 128 }) as unknown;
    const metadata = { 'light.lamp': { entity_only: true } };
    expect(scenes).toEqual([expect.objectContaining({ entities: { 'light.lamp': lamp }, metadata })]);

    await allLoaded(
      'automation.evening',
      'automation.motion_activated_light',
      'scene.reading',
      'script.good_night',
    );
    const { code, written, contents } = await villa.export(home.namespace, 'villa');
    expect(code).toBe(0);
    const ofEditor = written.filter(({ kind }) => /^Hub(Automation|Script|Scene)$/.test(kind));
    expect(ofEditor.map(({ name }) => name)).toEqual([
      'evening',
      'motion-activated-light',
      'reading',
      'good-night',
    ]);

    await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
    expect(await villa.adopt(home, villa.path('villa'), ofEditor)).toEqual([]);
    for (const { kind, name } of ofEditor)
      expect((await home.get(kind, name)).status).toMatchObject({ adopted: true });
    expect(await villa.stored()).toEqual(stored);
    expect((await villa.export(home.namespace, 'again')).contents).toEqual(contents);
  });
});
