import { readdir, readFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { contentKey } from './cache';

/** The folder of the Go module of the sandbox itself. */
export const goModule = join(__dirname, 'go');

/**
 * The folder of the Go module of programs that check the manifests we ship. These are separate modules, since
 * one module has one version of each dependency.
 */
export const checksModule = join(__dirname, 'go-checks');

/**
 * The folder of the Go module of the linters, whose dependencies would otherwise hold back those of the
 * checks.
 */
export const lintersModule = join(__dirname, 'go-linters');

/**
 * Environment of every `go` call. Without cgo the binary does not depend on the presence of a C compiler; a workspace
 * or flags of the developer must not change the build.
 */
export const goEnvironment = { CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' } as const;

/** Arguments for `go` that build `cmd/<command>` to the file `output` and print each package that is compiled. */
export async function buildArguments(command: string, output: string, module = goModule): Promise<string[]> {
  const linking = ['-s', '-w', ...(await versionFlags(module))].join(' ');
  // The linker drops debug information (-s -w); not generating it saves a seventh of the build time.
  const compiling = 'all=-dwarf=false';
  const reproducible = ['-trimpath', '-buildvcs=false'];
  const flags = [...reproducible, `-gcflags=${compiling}`, `-ldflags=${linking}`];
  return ['build', '-v', ...flags, '-o', output, `./cmd/${command}`];
}

/** The cache key of `cmd/<command>`: a hash of its sources, the module files, the platform and the linker flags. */
export async function sourceKey(command: string, module = goModule): Promise<string> {
  const sources = join(module, 'cmd', command);
  const names = (await readdir(sources)).sort();
  const files = [...names.map((name) => join(sources, name)), join(module, 'go.mod'), join(module, 'go.sum')];
  const contents = await Promise.all(files.map((file) => readFile(file)));
  return contentKey([platform(), arch(), ...(await versionFlags(module)), ...contents]);
}

/** Sets the version as the release script of Kubernetes does; without it all components report v0.0.0-master. */
async function versionFlags(module: string): Promise<string[]> {
  const goMod = await readFile(join(module, 'go.mod'), 'utf8');
  const [, version, major, minor] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(goMod) ?? [];
  if (version === undefined) return [];
  const values = {
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitCommit: version,
    gitTreeState: 'clean',
  };
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((holder) =>
    Object.entries(values).map(([name, value]) => `-X=${holder}.${name}=${value}`),
  );
}
