import type { Answer } from '../../../../operator/client/entries/forms/answer';
import type { Answers } from '../../../../operator/sync/integration/answers';
import {
  changedAnswers,
  hashAnswers,
  isComparable,
  placeOf,
  recorded,
  withMoves,
} from '../../../../operator/sync/integration/answer-hashes';

const answer = (id: string, text: string): Answer => ({ id, field: 'x', value: { type: 'text', text } });
const answers = (given: Partial<Answers>): Answers => ({
  configuration: [],
  steps: [],
  options: undefined,
  subentries: undefined,
  secrets: [],
  ...given,
});
const KEY = 'a random key';

describe('hashAnswers', () => {
  test('equal answers have one hash, and differences are named', () => {
    const before = hashAnswers(
      answers({
        configuration: [answer('configuration.host', 'a'), answer('configuration.port', '1')],
        steps: [{ stepId: 'user', menuOption: 'sensor', answers: [answer('steps[0].user.name', 'n')] }],
        subentries: [{ type: 'device', title: 'Lamp', answers: [answer('subentries.device/Lamp.x', '1')] }],
      }),
      KEY,
    );
    const now = hashAnswers(
      answers({
        configuration: [answer('configuration.host', 'b')],
        steps: [{ stepId: 'user', menuOption: 'light', answers: [answer('steps[0].user.name', 'n')] }],
        options: [answer('options.interval', '5')],
        subentries: [{ type: 'device', title: 'Lamp', answers: [answer('subentries.device/Lamp.x', '2')] }],
      }),
      KEY,
    );
    expect(changedAnswers(before, before)).toEqual([]);
    expect(changedAnswers(before, now)).toEqual([
      'configuration.host',
      'configuration.port',
      'options.interval',
      'steps[0].user',
      'subentries.device/Lamp',
    ]);
  });

  test('an answer that moves to another place is unchanged', () => {
    const before = hashAnswers(
      answers({
        configuration: [{ ...answer('configuration.name', 'n'), field: 'name' }],
        steps: [{ stepId: 'user', menuOption: 'sensor', answers: [] }],
      }),
      KEY,
    );
    const now = hashAnswers(
      answers({
        steps: [
          { stepId: 'first', answers: [{ ...answer('steps[0].first.name', 'n'), field: 'name' }] },
          { stepId: 'user', menuOption: 'sensor', answers: [] },
        ],
      }),
      KEY,
    );
    expect(changedAnswers(before, now)).not.toEqual([]);
    expect(withMoves(before, now)).toEqual(now);
  });

  test('equal values of two fields have different hashes, and nothing shows a value', () => {
    const hashes = hashAnswers(
      answers({
        configuration: ['a', 'b'].map((field) => ({ ...answer(`configuration.${field}`, 'hunter2'), field })),
      }),
      KEY,
    );
    expect(new Set(Object.values(hashes)).size).toBe(2);
    expect(JSON.stringify(recorded(hashes, KEY))).not.toContain('hunter2');
  });
});

describe('isComparable', () => {
  test('hashes with another key are not compared', () => {
    const { configHash } = recorded({}, KEY);
    expect(isComparable(configHash, KEY)).toBe(true);
    expect(isComparable(configHash, 'another')).toBe(false);
    expect(isComparable(undefined, KEY)).toBe(false);
  });
});

describe('placeOf', () => {
  test.each([
    ['configuration.section.port', { part: 'configuration', field: 'section.port' }],
    ['steps[3].user.section.port', { part: 'steps', field: 'section.port' }],
    ['steps[0].user', { part: 'steps', field: undefined }],
    ['options.a', { part: 'options', field: 'a' }],
    ['subentries.device/Lamp: 1.5', { part: 'subentries' }],
  ])('%s', (id, place) => {
    expect(placeOf(id)).toEqual(place);
  });
});
