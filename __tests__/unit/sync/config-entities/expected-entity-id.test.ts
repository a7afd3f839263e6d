import { takenEntityId } from '../../../../operator/sync/config-entities/expected-entity-id';

test.each([
  ['Hall off', 'automation.hall_off_2', 'automation.hall_off'],
  ['Küche, groß!', 'automation.kuche_gross_3', 'automation.kuche_gross'],
  ["John's 1,000 lamps", 'automation.john_s_1000_lamps_2', 'automation.john_s_1000_lamps'],
  ['Hall off', 'automation.hall_off', undefined],
  ['Light 2', 'automation.light_2', undefined],
  ['Light', 'automation.light_two', undefined],
  // A person has renamed it.
  ['Hall off', 'automation.evening_2', undefined],
  ['Кухня', 'automation.kukhnia_2', undefined],
])('%s as %s: another entity had %s', (name, entityId, expected) => {
  expect(takenEntityId('automation', name, entityId)).toBe(expected);
});
