import type { CustomResource } from '../../../../operator/kinds/resource';
import { isOnOtherVolume } from '../../../../operator/sync/hub-pod/hub-volume';
import { resource } from '../../resource';

const recorded = (volumeID?: string): CustomResource =>
  resource('porch', {}, { status: { ...(volumeID !== undefined && { volumeID }) } });

describe('isOnOtherVolume', () => {
  test.each([
    ['another volume', recorded('first'), 'second', true],
    ['the same volume', recorded('first'), 'first', false],
    ['a volume that is not known', recorded('first'), undefined, false],
    ['a status of an earlier version, which recorded none', recorded(), 'second', false],
  ])('%s', (_, of, volume, expected) => {
    expect(isOnOtherVolume(of, volume)).toBe(expected);
  });
});
