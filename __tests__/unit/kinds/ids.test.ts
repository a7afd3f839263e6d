import { effectiveId, fieldOfId, registryName, scriptId } from '../../../operator/kinds/ids';
import { resource } from '../resource';
import fc from '../../fast-check';

const entity = (name: string, id?: string) => resource(name, id === undefined ? {} : { id });

describe('effectiveId, registryName, scriptId', () => {
  test('the effective id is spec.id, or the name when that is absent or empty', () => {
    expect(effectiveId(entity('a-b', 'c'))).toBe('c');
    expect(effectiveId(entity('a-b'))).toBe('a-b');
    expect(effectiveId(entity('a-b', ''))).toBe('a-b');
    expect(effectiveId(entity('1700000000000'))).toBe('1700000000000');
  });

  test('hubId is used verbatim, and takes precedence over all others', () => {
    for (const hubId of ['1699999999999', 'Bad Zimmer 1', '光', 'a/b']) {
      expect(effectiveId(resource('a-b', { hubId }))).toBe(hubId);
      expect(fieldOfId(resource('a-b', { hubId }))).toBe('spec.hubId');
    }
    expect(scriptId(resource('a-b', { hubId: '1699999999999' }))).toBe('1699999999999');
    expect([entity('a', 'b'), entity('a'), entity('a', '')].map(fieldOfId)).toEqual([
      'spec.id',
      'metadata.name',
      'metadata.name',
    ]);
  });

  test.each([
    ['movie-night', 'movie_night'],
    ['movie-night.v2', 'movie_night_v2'],
    ['a--b.-c', 'a_b_c'],
    ['night', 'night'],
  ])('a script called %s has the id %s', (name, id) => expect(scriptId(entity(name))).toBe(id));

  test('every name of a resource gives a script id that the hub accepts', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,40}[a-z0-9])?$/), (name) => {
        expect(scriptId(entity(name))).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
      }),
    );
  });

  test.each([
    ['Ground Floor', 'ground  floor'],
    ['STRASSE', 'straße'],
    ['ΟΔΟΣ', 'οδος'],
    ['Café', 'CAFÉ'],
  ])('%s and %s are one name for the hub', (a, b) => expect(registryName(a)).toBe(registryName(b)));

  test('Ground Floor and Ground-Floor are two', () => {
    expect(registryName('Ground Floor')).not.toBe(registryName('Ground-Floor'));
  });
});
