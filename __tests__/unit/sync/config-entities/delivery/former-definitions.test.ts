import {
  LARGEST_DATA,
  LARGEST_SIZE,
  USUAL_SIZE,
} from '../../../../../operator/sync/config-entities/delivery/assignment';
import { MountedDefinitions } from '../../../../../operator/sync/config-entities/delivery/mounted-definitions';
import {
  type Former,
  CLAIM_FILE,
  FORMER_FILE,
  formerText,
  readClaimText,
  readFormerText,
} from '../../../../../operator/sync/config-entities/delivery/former-definitions';

const former = (size: number): Former => ({
  definition: { alias: 'é'.repeat(size / 2) },
  accepted: 'sha256:1',
});

describe('former definitions', () => {
  test('are read as they were written, including that there was none', () => {
    const formers = new Map<string, Former>([
      ['automation a', former(10)],
      ['script b', { definition: null, accepted: '' }],
    ]);
    expect(readFormerText(formerText([...formers], 0))).toEqual(formers);
    expect(formerText([], 0)).toBeUndefined();
  });

  test.each([
    '{"automation a": ',
    'null',
    '[1]',
    '{"automation a": {"definition": 1, "accepted": ""}}',
    '{"a": null}',
  ])('are empty in a text that someone has broken: %s', (text) => {
    expect(readFormerText(text).size).toBe(0);
  });

  test('are left out where the API server would not accept them beside the definitions, counted in bytes', () => {
    const formers = Array.from(
      { length: 9 },
      (_, index) => [`automation ${index}`, former(100_000)] as const,
    );
    const text = formerText(formers, 500_000)!;
    expect(readFormerText(text).size).toBe(5);
    expect(500_000 + Buffer.byteLength(text)).toBeLessThanOrEqual(LARGEST_DATA);
    expect(formerText(formers, LARGEST_SIZE + 100_000)).toBeUndefined();
  });

  test('leave their room to the claims of new definitions', () => {
    const definitions = new MountedDefinitions();
    for (const size of [10, LARGEST_SIZE / 4 - 100]) {
      for (const id of ['a', 'b', 'c', 'd'])
        definitions.put('automation', id, { alias: 'x'.repeat(size) }, former(30_000));
    }
    for (const id of ['a', 'b', 'c', 'd']) definitions.claim('automation', id, `uid-${id}`);
    definitions.claim('automation', 'd', 'x'.repeat(20_000));
    definitions.renewBesides(0);
    const { data } = definitions.content(0);
    expect(readClaimText(data[CLAIM_FILE]).size).toBe(5);
    expect(readFormerText(data[FORMER_FILE]).size).toBe(2);
    const next = new MountedDefinitions();
    next.read(0, {
      ...data,
      [CLAIM_FILE]: JSON.stringify({ 'uid-a': 'automation a', gone: 'automation z' }),
    });
    expect(['uid-a', 'uid-b', 'gone'].map((uid) => next.claimOf('automation', uid))).toEqual([
      'a',
      undefined,
      undefined,
    ]);
    next.take('automation', 'a');
    expect(next.claimOf('automation', 'uid-a')).toBeUndefined();
    expect(next.sizes()[0]).toBe(definitions.sizes()[0]! * 0.75);
  });

  test('have room beside as many definitions as a ConfigMap usually has', () => {
    expect(2 * USUAL_SIZE).toBeLessThan(LARGEST_DATA);
  });
});
