import { generateConfiguration } from '../../../../../operator/sync/configuration/generate/generate';
import { formerMarker } from '../../../../../operator/sync/configuration/generate/content-marker';

describe('formerMarker', () => {
  test.each([
    ['shows the secrets of now', true, 'new'],
    ['shows none, if the files name none', false, undefined],
  ])('%s', (_, hasSecrets, secrets) => {
    const generated = generateConfiguration({ configuration: 'logger:\n', hasSecrets });
    if (generated.type === 'invalid') throw new Error(generated.message);
    const { files, hash: configuration } = generated;
    const former = { files, marker: { configuration, ...(hasSecrets && { secrets: 'old' }) } };
    expect(formerMarker(former, { configuration: 'other', secrets: 'new' })).toEqual({
      configuration,
      secrets,
    });
  });
});
