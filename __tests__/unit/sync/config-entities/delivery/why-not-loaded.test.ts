import { whyNotLoaded } from '../../../../../operator/sync/config-entities/delivery/why-not-loaded';
import { hubClient } from '../../../stand-in-hub/hub-client';

const client = (...messages: readonly string[]) =>
  hubClient({
    connection: { command: async () => messages.map((text) => ({ level: 'ERROR', message: [text] })) },
    rest: { redact: (text: string) => text },
  });

describe('why the hub does not load a definition', () => {
  const first = "Invalid config for 'scene' at delivery/scenes.yaml, line 3: required key 'entities'";
  const second = "Invalid config for 'scene' at delivery/scenes.yaml, line 2: 'nam' is an invalid option";

  test('is the log’s text about it by name, even if newer texts name the file', async () => {
    const named = "Scene 'Film' in scene could not be set up";
    expect(await whyNotLoaded(client(first, named), 'scene', { name: 'Film' })).toBe(named);
  });

  test('is all texts about the file where none names it: the newest may be about another one', async () => {
    expect(await whyNotLoaded(client(first, second), 'scene', { name: 'Film' })).toBe(
      `the hub has read it and does not load it. Its log says of the file: ${first}; ${second}`,
    );
  });

  test('has to be searched for where the log mentions neither', async () => {
    expect(await whyNotLoaded(client('Something of a scene'), 'scene', { name: 'Film' })).toMatch(
      /Look for the reason in its log/,
    );
  });
});
