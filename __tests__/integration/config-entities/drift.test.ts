import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { callService } from '../../../operator/client/services';
import { stateOf } from '../../../operator/client/config-entities/states';
import { freshNamespace, until } from '../../cluster';
import { automation, Home, scene, script } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';
import type { ConfigEntityKind, EntityPayload } from '../../../operator/client/connection/config-entity';

// Changes that users make in the hub are noticed by the hub's own events, long before the next resync, and
// reverted or reported.

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('drift'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
});

/** Returns the counts when no more events follow. */
const drifts = async (labels: string) => {
  await operator.calm();
  return operator.metric('hub_operator_drift_total', labels);
};
const isBack = (kind: ConfigEntityKind, id: string, expected: EntityPayload) =>
  until(`${kind} ${id} is back`, async () => {
    expect(await client.entities.read(kind, id)).toMatchObject(expected);
    return true;
  });
const tells = (kind: string, name: string, text: RegExp) => home.event(kind, name, text);

describe('drift of automations, scenes and scripts', () => {
  test('an automation that was changed or removed in the hub is restored', async () => {
    await home.apply(automation('villa', 'lights'));
    await home.ready('hubautomation', 'lights');
    await client.entities.write('automation', 'lights', { alias: 'Mine now', triggers: [], actions: [] });
    await isBack('automation', 'lights', { alias: 'The automation lights' });
    await home.ready('hubautomation', 'lights');
    await tells('HubAutomation', 'lights', /^Warning DriftDetected: .*alias: hub has "Mine now"/);
    expect(await drifts('kind="HubAutomation",action="corrected"')).toBe(1);

    await client.entities.remove('automation', 'lights');
    await isBack('automation', 'lights', { alias: 'The automation lights' });
    await home.ready('hubautomation', 'lights');
    expect(await drifts('kind="HubAutomation",action="corrected"')).toBe(2);
  });

  test('a scene and a script that were changed or removed in the hub are restored', async () => {
    await home.apply(scene('villa', 'film'), script('villa', 'night'));
    await home.ready('hubscene', 'film');
    await home.ready('hubscript', 'night');
    // Neither the name nor the entities change, so the hub shows no difference.
    const entities = { 'light.sofa': { state: 'on', brightness: 255 } };
    await client.entities.write('scene', 'film', { name: 'The scene film', entities });
    await client.entities.write('script', 'night', { alias: 'The script night', sequence: [] });
    await isBack('scene', 'film', { entities: { 'light.sofa': { state: 'on', brightness: 20 } } });
    await isBack('script', 'night', { sequence: [{ delay: { seconds: 1 } }] });
    await home.ready('hubscene', 'film');
    await home.ready('hubscript', 'night');
    await operator.calm(); // otherwise the removal might coincide with the correction

    await client.entities.remove('scene', 'film');
    await client.entities.remove('script', 'night');
    await isBack('scene', 'film', { name: 'The scene film' });
    await isBack('script', 'night', { alias: 'The script night' });
    await home.ready('hubscene', 'film');
    await home.ready('hubscript', 'night');
    await tells('HubScene', 'film', /^Warning DriftDetected: The scene was removed from the hub/);
  });

  test('an automation is restored after its file was edited by hand and reloaded', async () => {
    await home.apply(automation('villa', 'edited'), automation('villa', 'neighbour'));
    await home.ready('hubautomation', 'edited');
    await home.ready('hubautomation', 'neighbour');
    await operator.calm(); // so that no other client writes the file
    const file = join(await home.volumeOf('villa'), 'automations.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll('The automation edited', 'Edited by hand'));
    await callService(client.rest, 'automation', 'reload');
    await isBack('automation', 'edited', { alias: 'The automation edited' });
    await home.ready('hubautomation', 'edited');
    await tells('HubAutomation', 'edited', /^Warning DriftDetected/);
    await operator.touch('HubAutomation', 'neighbour');
    expect((await operator.events('HubAutomation', 'neighbour')).join()).not.toContain('DriftDetected');
  });

  test('the files edited by hand while the hub is down', async () => {
    await home.apply(automation('villa', 'offline'), scene('villa', 'offline'));
    await home.ready('hubautomation', 'offline');
    await home.ready('hubscene', 'offline');
    await operator.calm();
    const volume = await home.volumeOf('villa');
    const pid = await home.hubProcess('villa');
    // the stopped process does nothing more, and is not restarted before it is killed
    process.kill(pid, 'SIGSTOP');
    try {
      for (const [file, kind] of [
        ['automations.yaml', 'automation'],
        ['scenes.yaml', 'scene'],
      ] as const) {
        const path = join(volume, file);
        const text = await readFile(path, 'utf8');
        const changed = text
          .replaceAll(`The ${kind} offline`, 'Edited offline')
          .replaceAll('brightness: 20', 'brightness: 99');
        expect(changed).not.toBe(text);
        await writeFile(path, changed);
      }
    } finally {
      process.kill(pid, 'SIGKILL');
    }
    const expected = [
      ['automation', { alias: 'The automation offline' }],
      ['scene', { name: 'The scene offline', entities: { 'light.sofa': { state: 'on', brightness: 20 } } }],
    ] as const;
    for (const [kind, body] of expected) {
      await until(`the ${kind} is back`, async () => {
        expect(await client.entities.read(kind, 'offline')).toMatchObject(body);
        return true;
      });
      await home.ready(`hub${kind}`, 'offline');
    }
    await tells('HubAutomation', 'offline', /^Warning DriftDetected: .*Edited offline/);
    await tells('HubScene', 'offline', /^Warning DriftDetected: .*Edited offline/);
  });

  test('is only reported with the policy Warn, and is replaced at the next change of the spec', async () => {
    await home.apply(automation('villa', 'watched', { driftPolicy: 'Warn' }));
    await home.ready('hubautomation', 'watched');
    await client.entities.write('automation', 'watched', { alias: 'Mine', triggers: [], actions: [] });
    const { message } = await home.ready('hubautomation', 'watched', {
      status: 'False',
      reason: 'DriftDetected',
    });
    expect(message).toContain('alias: hub has "Mine", resource says "The automation watched"');
    expect(await drifts('kind="HubAutomation",action="reported"')).toBe(1);
    expect(await client.entities.read('automation', 'watched')).toMatchObject({ alias: 'Mine' });
    await home.change('hubautomation', 'watched', { mode: 'restart' });
    await home.ready('hubautomation', 'watched');
    await isBack('automation', 'watched', { alias: 'The automation watched', mode: 'restart' });
  });

  test('an automation with enabled: false that was switched on is switched off again', async () => {
    await home.apply(automation('villa', 'off', { enabled: false }));
    await home.ready('hubautomation', 'off');
    const entity_id = String((await home.get('hubautomation', 'off')).status!['entityId']);
    expect(await stateOf(client.rest, entity_id)).toBe('off');
    await callService(client.rest, 'homeassistant', 'toggle', { entity_id });
    await until('it is off', async () => (await stateOf(client.rest, entity_id)) === 'off');
    await tells('HubAutomation', 'off', /^Warning DriftDetected: The automation was switched on in the hub/);
  });

  test('automations with enabled: false are switched off again by one request each after a call that turns on all', async () => {
    const names = ['off', 'off-too', 'off-as-well'];
    await home.apply(...names.map((name) => automation('villa', name, { enabled: false })));
    await home.apply(automation('villa', 'stays-on'));
    for (const name of [...names, 'stays-on']) await home.ready('hubautomation', name);
    await operator.calm();
    const entityId = async (name: string) =>
      String((await home.get('hubautomation', name)).status!['entityId']);
    const entityIds = await Promise.all(names.map(entityId));
    const switchedOff: unknown[] = [];
    await client.connection.subscribeEvents('call_service', ({ domain, service, service_data: data }) => {
      if (domain === 'automation' && service === 'turn_off') switchedOff.push(data.entity_id);
    });
    await callService(client.rest, 'automation', 'turn_on', { entity_id: 'all' });
    await until('all of them are off', async () => {
      const states = await Promise.all(entityIds.map((id) => stateOf(client.rest, id)));
      return states.every((state) => state === 'off');
    });
    // a further reconcile finds nothing to do
    for (const name of names) await operator.touch('HubAutomation', name);
    await client.connection.command('get_config'); // the hub has sent all events before this answer
    expect(switchedOff.flat().sort()).toEqual([...entityIds].sort());
    expect(await stateOf(client.rest, await entityId('stays-on'))).toBe('on');
  });

  test('the operator’s own writes, reloads and removals are not drift', async () => {
    const before = await drifts('');
    const names = Array.from({ length: 8 }, (_, index) => `own-${index}`);
    await home.apply(...names.flatMap((name) => [automation('villa', name), scene('villa', name)]));
    for (const name of names) await home.ready('hubautomation', name);
    for (const name of names) await home.ready('hubscene', name);
    await home.apply(...names.map((name) => automation('villa', name, { mode: 'restart' })));
    for (const name of names) await home.ready('hubautomation', name);
    for (const name of names) await home.delete('hubscene', name, { wait: false });
    await until('the scenes are gone', async () =>
      (await home.list('hubscenes')).every(({ metadata }) => !names.includes(metadata.name)),
    );
    expect(await drifts('')).toBe(before);
  });
});
