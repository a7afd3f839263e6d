import {
  suggestionFor,
  Suggestions,
} from '../../../../../operator/sync/config-entities/references/suggestion';

const ALL = [
  'input_boolean.movie_night',
  'light.bed',
  'light.sofa',
  'switch.sofa',
  'sensor.a1',
  'climate.bath_room',
];

test.each([
  ['input_boolean.movie_nigth', 'input_boolean.movie_night'],
  ['light.sofaa', 'light.sofa'],
  ['input_bolean.movie_night', 'input_boolean.movie_night'],
  ['switch.movie_night', 'input_boolean.movie_night'],
  ['lihgt.sofa', 'light.sofa'],
  // Two have it, and none of the two is near.
  ['cover.sofa', undefined],
  // The domain is no part of the name: one of two letters is another name.
  ['sensor.b2', undefined],
  ['climate.room', undefined],
  ['media_player.radio', undefined],
])('%s is probably %s', (id, expected) => {
  expect(suggestionFor(id, ALL)).toBe(expected);
});

describe('Suggestions', () => {
  let names: Set<string>;
  let searches: number;
  let suggestions: Suggestions;
  const given = {
    has: (name: string) => names.has(name),
    all: () => {
      searches += 1;
      return names;
    },
  };
  const suggest = (id: string, version = 1, own = 'light.own') =>
    suggestions.suggest(id, own, version, given);

  beforeEach(() => {
    names = new Set(ALL);
    searches = 0;
    suggestions = new Suggestions();
  });

  test('a name without a near one is searched once for each version of the names', () => {
    for (const _ of [1, 2, 3]) expect(suggest('media_player.radio')).toBeUndefined();
    expect(searches).toBe(1);
    names.add('media_player.radoi');
    expect(suggest('media_player.radio', 2)).toBe('media_player.radoi');
    expect(searches).toBe(2);
    suggest('media_player.radio', 2, 'light.other');
    expect(searches).toBe(3);
  });

  test('a near name that has gone is not suggested', () => {
    expect(suggest('light.sofaa')).toBe('light.sofa');
    expect(suggest('light.sofaa')).toBe('light.sofa');
    expect(searches).toBe(1);
    names.delete('light.sofa');
    expect(suggest('light.sofaa')).toBeUndefined();
  });

  test('what is remembered is bounded', () => {
    for (let n = 0; n < 5_000; n += 1) suggest(`vacuum.x${n}`);
    expect(suggestions['remembered'].size).toBeLessThanOrEqual(2_000);
  });
});
