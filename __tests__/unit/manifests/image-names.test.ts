import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const files = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.ya?ml$/.test(name),
);

/**
 * Whether no other party can publish an image of this name: its domain never resolves, or it has the digest
 * of a release.
 */
const isSafe = (image: string) => /^[^/]+\.invalid\//.test(image) || /@sha256:[0-9a-f]{64}$/.test(image);

describe('dist/', () => {
  test('names no image of the operator that another party could publish', () => {
    const images = files.flatMap((name) =>
      [...readFileSync(join('dist', name), 'utf8').matchAll(/^ +image: ([^{\s]\S*)$/gm)].map(
        ([, image]) => image!,
      ),
    );
    expect(images.length).toBeGreaterThanOrEqual(2);
    expect(images.filter((image) => !isSafe(image))).toEqual([]);
  });

  test('nor does the chart', () => {
    const { image } = parse(readFileSync('dist/chart/values.yaml', 'utf8')) as {
      image: { repository: string; digest: string };
    };
    expect(isSafe(image.digest === '' ? image.repository : `${image.repository}@${image.digest}`)).toBe(true);
  });
});
