import {
  disabledEntityText,
  failedFlowText,
  failedFlowWithCause,
  flowKeyIn,
  isDisabledEntityText,
} from '../../../operator/kinds/case-texts';
import { noticesIn, runningText } from '../../../operator/kinds/hub/running-text';
import fc from '../../fast-check';

const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/);
/** Texts of the hub or of a user that contain the separators of sentences. */
const words = fc.string({
  unit: fc.constantFrom('a', 'B', '1', ' ', ': ', '. ', '(', ')', 'The ', 'failed'),
});

describe('isDisabledEntityText', () => {
  test('recognizes the text of each kind and cause', () => {
    for (const type of ['automation', 'scene', 'script'])
      for (const by of ['user', 'config_entry', 'integration'])
        expect(isDisabledEntityText(disabledEntityText(type, `${type}.night_2`, by))).toBe(true);
  });

  test.each([
    'The automation automation.a differs in alias: Night.',
    'The alias in the hub is “Night is disabled in the hub (by: user)”.',
    'The description differs: it is disabled in the hub (by: user), and is left so.',
  ])('does not recognize “%s”', (message) => {
    expect(isDisabledEntityText(message)).toBe(false);
  });
});

describe('flowKeyIn', () => {
  test('returns the key of every text with one, regardless of the hub’s words beside it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('configuration', 'options', 'subentry'),
        word,
        fc.option(word, { nil: undefined }),
        fc.option(word, { nil: undefined }),
        word,
        fc.option(words, { nil: undefined }),
        fc.boolean(),
        words,
        (flow, domain, step, field, key, shown, isEnd, hint) => {
          const text = failedFlowWithCause({ flow, domain, step, field }, { key, words: shown, isEnd });
          expect(flowKeyIn(`${text}. ${hint}`)).toBe(key);
        },
      ),
    );
  });

  test.each([
    'the hub did not respond to the answer: cannot_connect',
    'the answers do not fit',
    'configuration.cannot_connect: remove it or correct its name',
  ])('returns none for another cause: %s', (cause) => {
    const failed = failedFlowText({ flow: 'configuration', domain: 'mqtt', step: 'user' });
    expect(flowKeyIn(`${failed}: ${cause}.`)).toBeUndefined();
  });
});

describe('noticesIn', () => {
  const state = fc.constantFrom('RUNNING', 'STARTING', 'NOT_RUNNING');
  const url = fc.constantFrom('http://villa.home.svc:8123', 'https://[fd00::1]', 'http://10.0.0.1:8123/a(b)');
  const sentence = words.map((text) => `${text}x.`.trim());

  test('returns the notices of every text', () => {
    fc.assert(
      fc.property(url, state, fc.array(sentence, { maxLength: 3 }), (address, said, notices) => {
        const message = runningText('2026.11.0', address, said, notices);
        expect(noticesIn(message)).toBe(notices.length === 0 ? undefined : notices.join(' '));
      }),
    );
  });

  test.each(['A message.', 'The hub is in recovery mode. Home Assistant 1 answers at a (b). c'])(
    'returns none for “%s”',
    (message) => {
      expect(noticesIn(message)).toBeUndefined();
    },
  );
});
