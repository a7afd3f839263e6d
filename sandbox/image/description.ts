import { HEAP_PERCENTAGE } from '../../manifests/memory';
import { version } from '../../package.json';

/** The final stage of the Dockerfile as data. */
export interface ImageDescription {
  /** User and group as numbers: `<user>:<group>`. */
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
  readonly labels: Readonly<Record<string, string>>;
  /** Paths in the repository of the files that are copied into the image. */
  readonly files: readonly string[];
}

/** The folder of the copied files in the image. */
export const APP_FOLDER = '/app';

/** The flag that limits the heap to a percentage of the container's memory limit. */
export const HEAP_FLAG = `--max-old-space-size-percentage=${HEAP_PERCENTAGE}`;

/** The operator's image. A unit test compares this with the Dockerfile, so both change together. */
export const operatorImage: ImageDescription = {
  user: '65532:65532',
  entrypoint: ['/nodejs/bin/node', '--max-semi-space-size=2', HEAP_FLAG, '/app/operator.cjs'],
  environment: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '16384' },
  ports: [8080, 9443],
  labels: {
    'org.opencontainers.image.title': 'Hub Operator',
    'org.opencontainers.image.description':
      'Runs Home Assistant and everything inside it from Kubernetes custom resources',
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': version,
  },
  files: [
    'build/operator.cjs',
    'build/operator.cjs.map',
    'build/kubectl-hub.cjs',
    'LICENSE',
    'build/third-party-licenses.txt',
  ],
};
