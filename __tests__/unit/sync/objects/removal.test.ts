import { shouldDelete } from '../../../../operator/sync/objects/removal';
import { anEntry } from '../registry/entries';

describe('shouldDelete', () => {
  test.each([
    [undefined, undefined, true],
    [undefined, true, false],
    ['Delete', true, true],
    ['Orphan', undefined, false],
  ])('deletionPolicy %s, adopted %s: %s', (deletionPolicy, adopted, expected) => {
    const resource = anEntry('HubFloor', 'f', {
      spec: { ...(deletionPolicy && { deletionPolicy }) },
      status: { ...(adopted && { adopted }) },
    });
    expect(shouldDelete(resource)).toBe(expected);
  });
});
