import { kinds } from '../../../operator/kinds';
import { duplicateMessage, hasChosenId } from '../../../operator/kinds/duplicate-id';
import { definitionOf, ours } from '../webhook/requests';

describe('duplicateMessage', () => {
  test('names the id of an automation, a scene or a script, and both fields that may set it', () => {
    expect(duplicateMessage(definitionOf('HubScript'), ours('HubScript', 'good-night'), 'first')).toBe(
      'HubScript first has the id good_night in the Hub villa already: delete it, or give this one another spec.id or metadata.name.',
    );
  });

  test('an id of an existing object cannot be changed: another one is for a new resource', () => {
    const second = ours('HubAutomation', 'second', { hubId: 'Bad Zimmer 1' });
    expect(duplicateMessage(definitionOf('HubAutomation'), second, 'first')).toBe(
      'HubAutomation first has the id Bad Zimmer 1 in the Hub villa already: delete it, or give this one another spec.hubId, as a new resource.',
    );
  });

  test('for a kind without such an id it names the other resource', () => {
    const floor = ours('HubFloor', 'second', { name: 'Ground floor' });
    expect(duplicateMessage(definitionOf('HubFloor'), floor, 'first')).toBe(
      'HubFloor first owns the same object in the Hub villa already: delete one of the two, or give this one another spec.name.',
    );
  });

  test('suggests another name only where that helps: a hub has only one configuration', () => {
    const second = ours('HubConfiguration', 'second');
    expect(duplicateMessage(definitionOf('HubConfiguration'), second, 'first')).toBe(
      'HubConfiguration first owns the same object in the Hub villa already: delete one of the two.',
    );
  });

  test('users choose the ids of five kinds', () => {
    expect(kinds.filter(hasChosenId).map(({ kind }) => kind)).toEqual([
      'HubAutomation',
      'HubScene',
      'HubScript',
      'HubHelper',
      'HubPerson',
    ]);
  });
});
