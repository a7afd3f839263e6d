import { chartValues } from '../../../../manifests/chart/values';
import { defaultSettings } from '../../../../manifests/settings';
import { version } from '../../../../package.json';

const defaults = (image: string) =>
  Object.fromEntries(chartValues({ ...defaultSettings, image }).map((value) => [value.path, value.default]));

describe('chartValues', () => {
  test.each([
    ['registry:5000/team/operator:1.2', 'registry:5000/team/operator', '1.2', ''],
    ['registry:5000/operator', 'registry:5000/operator', '', ''],
    [`operator:${version}`, 'operator', '', ''],
    ['operator:1.2@sha256:12', 'operator', '1.2', 'sha256:12'],
  ])('the image %s of the synth is the default', (image, repository, tag, digest) => {
    expect(defaults(image)).toMatchObject({
      'image.repository': repository,
      'image.tag': tag,
      'image.digest': digest,
    });
  });

  test('settings that the Deployment sets itself, or that are for tests, are not values', () => {
    const { schema } = chartValues(defaultSettings).find(({ path }) => path === 'settings')!;
    const names = Object.keys(schema.properties!);
    expect(names).toEqual(expect.arrayContaining(['LOG_LEVEL', 'WORKERS', 'CODE_HOST_URL']));
    expect(names.filter((name) => /^(POD_|WEBHOOK|WATCH_NAMESPACES|HTTP|FREEZE|HUB_URL)/.test(name))).toEqual(
      [],
    );
  });
});
