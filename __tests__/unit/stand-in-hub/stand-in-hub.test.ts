import { settle } from '../manual-clock';
import { Configuration } from './configuration';
import { Definitions } from './definitions';
import { hubClient } from './hub-client';
import { StandInHub } from './stand-in-hub';

const NAME = 'villa-delivery-0';
const NIGHT = '{\n"night": {"alias": "Night", "sequence": []}\n}\n';

/** A hub with two wings, whose pod mounts a delivered script. */
function hubWithTwoWings() {
  const hub = new StandInHub();
  const configuration = hub.attach(new Configuration(hub));
  const definitions = hub.attach(new Definitions(hub, 'accepted'));
  const data = { 'automations.yaml': '[\n]\n', 'scenes.yaml': '[\n]\n', 'scripts.yaml': NIGHT };
  hub.configMaps.store({ metadata: { name: NAME }, data });
  hub.configMaps.store({
    metadata: { name: 'villa-configuration' },
    data: { 'configuration.yaml': 'counter:\n', '.content-hash': 'first' },
  });
  return { hub, configuration, definitions };
}

describe('StandInHub', () => {
  test('a reload reaches each wing, which sees a file once the kubelet has updated the pod', async () => {
    const { hub, configuration, definitions } = hubWithTwoWings();
    const client = hub.client();
    await client.entities.reload('script');
    expect(definitions.loaded.size).toBe(0);
    hub.pod.refresh();
    await client.entities.reload('script');
    expect(definitions.loaded.get('script night')).toMatchObject({ alias: 'Night' });
    expect(configuration.loaded.get('script')).toBe('counter:\n');
    expect(await client.entities.running('script.night')).toMatchObject({ alias: 'Night' });
    expect(await client.entities.running('script.hub_operator_configuration')).toEqual({
      variables: { configuration: 'first' },
    });
  });

  test('a start is another one, without the log of the former', async () => {
    const { hub, definitions } = hubWithTwoWings();
    const { connection } = hub.client();
    hub.log('Setup failed.');
    expect(await connection.command('system_log/list')).toHaveLength(1);
    hub.restart();
    expect(await connection.command('system_log/list')).toEqual([]);
    expect(await connection.command('integration/setup_info')).toMatchObject([{ seconds: 1 }]);
    expect(definitions.loaded.has('script night')).toBe(true);
  });

  test('a request that no wing answers is named', async () => {
    const { rest, connection } = new StandInHub().client();
    await expect(rest.get('/api/elsewhere')).rejects.toThrow(
      'no wing of the stand-in hub answers /api/elsewhere',
    );
    await expect(connection.command('backup/info')).rejects.toThrow('Unknown command.');
  });

  test('a process that another one has replaced gets no answer, and writes nothing', async () => {
    const { hub, definitions } = hubWithTwoWings();
    const former = hub.client(hub.operators.start());
    const present = hub.client(hub.operators.start());
    let isAnswered = false;
    void former.entities.reload('script').then(() => (isAnswered = true));
    await settle();
    expect([isAnswered, hub.operators.events]).toEqual([false, []]);
    await present.entities.reload('script');
    expect(hub.operators.events).toEqual(['reload script']);
    expect(definitions.readAt).toHaveLength(1);
  });
});

describe('hubClient', () => {
  test('reads a getter of a wing when the operator does', () => {
    let offset = 1;
    const later = {
      get clockOffset() {
        return offset;
      },
    };
    const { rest } = hubClient({ rest: { redact: String } }, { rest: later });
    offset = 2;
    expect(rest.clockOffset).toBe(2);
    expect(rest.redact('text')).toBe('text');
  });
});
