import { suggestionFor } from '../../../../../operator/sync/config-entities/references/suggestion';

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
