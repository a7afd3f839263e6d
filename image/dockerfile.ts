import {
  type Copy,
  DockerfileParser,
  type From,
  type Instruction,
  type JSONInstruction,
  type PropertyInstruction,
} from 'dockerfile-ast';

/** What the final stage of a Dockerfile says about the image. */
export interface ImageDescription {
  /** The image that it is based on. */
  readonly base: ImageReference;
  /** `<user>:<group>`, as numbers. */
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
  /** Without those whose value is empty. */
  readonly labels: Readonly<Record<string, string>>;
  readonly copies: readonly CopiedFile[];
}

export interface ImageReference {
  /** With the registry, such as `gcr.io/distroless/nodejs24-debian13`. */
  readonly name: string;
  readonly tag: string | undefined;
  /** `sha256:…` */
  readonly digest: string | undefined;
}

export interface CopiedFile {
  /** Path in the repository. */
  readonly source: string;
  /** Absolute path in the image. */
  readonly destination: string;
}

/** The instructions of a final stage that are understood here; any other one would be missing in the image unnoticed. */
const UNDERSTOOD = new Set(['FROM', 'ARG', 'LABEL', 'COPY', 'ENV', 'USER', 'EXPOSE', 'ENTRYPOINT']);

/**
 * Reads the final stage of a Dockerfile, so that an image made without a container engine is the same one.
 *
 * Files are copied from another stage, whose working directory stands for the root of the repository: the stage writes its
 * output where the repository has it.
 *
 * @param values the build arguments; one that is absent is empty
 * @throws Error the Dockerfile has something that is not understood here
 */
export function readDockerfile(
  text: string,
  values: Readonly<Record<string, string>> = {},
): ImageDescription {
  const dockerfile = DockerfileParser.parse(text);
  const instructions = dockerfile.getInstructions();
  const start = instructions.findLastIndex((each) => each.getKeyword() === 'FROM');
  if (start < 0) throw new Error('cannot read Dockerfile: it has no FROM');
  const stage = instructions.slice(start);
  const unknown = stage.find((each) => !UNDERSTOOD.has(each.getKeyword()));
  if (unknown)
    throw new Error(`cannot read Dockerfile: ${unknown.getKeyword()} in its last stage is not understood`);
  const all = (keyword: string) => stage.filter((each) => each.getKeyword() === keyword);
  const last = (keyword: string) => {
    const found = all(keyword).at(-1);
    if (!found) throw new Error(`cannot read Dockerfile: its last stage has no ${keyword}`);
    return found;
  };
  const withValues = (value: string) =>
    value.replace(/\$\{?(\w+)\}?/g, (_, name: string) => values[name] ?? '');
  const labels = propertiesOf(all('LABEL')).map(([name, value]) => [name, withValues(value)] as const);
  return {
    base: referenceOf(stage[0] as From),
    user: words(last('USER')).join(' '),
    entrypoint: (last('ENTRYPOINT') as JSONInstruction).getJSONStrings().map((each) => each.getJSONValue()),
    environment: Object.fromEntries(propertiesOf(all('ENV'))),
    ports: all('EXPOSE').flatMap(words).map(Number),
    labels: Object.fromEntries(labels.filter(([, value]) => value !== '')),
    copies: all('COPY').flatMap((each) =>
      copiedFiles(each as Copy, workingDirectory(instructions, each as Copy)),
    ),
  };
}

/** The image of each stage that is not another stage. */
export function baseImages(text: string): ImageReference[] {
  const froms = DockerfileParser.parse(text).getFROMs();
  const stages = new Set(froms.map((each) => each.getBuildStage()));
  return froms.filter((each) => !stages.has(each.getImage())).map(referenceOf);
}

/** `<name>[:<tag>][@<digest>]`; a colon before a slash is that of a port. */
function referenceOf(from: From): ImageReference {
  const [, name, tag, digest] = /^(.+?)(?::([^:/@]+))?(?:@(.+))?$/.exec(from.getImage() ?? '') ?? [];
  return { name: name ?? '', tag, digest };
}

/** The last WORKDIR of the stage that files are copied from. */
function workingDirectory(instructions: readonly Instruction[], copy: Copy): string {
  const name = copy.getFromFlag()?.getValue();
  if (!name) throw new Error('cannot read Dockerfile: its last stage has a COPY that is from no other stage');
  const start = instructions.findIndex(
    (each) => each.getKeyword() === 'FROM' && (each as From).getBuildStage() === name,
  );
  const rest = instructions.slice(start + 1);
  const end = rest.findIndex((each) => each.getKeyword() === 'FROM');
  const directory = rest.slice(0, end).findLast((each) => each.getKeyword() === 'WORKDIR');
  if (start < 0 || !directory)
    throw new Error(`cannot read Dockerfile: there is no stage ${name} with a WORKDIR`);
  return words(directory)[0]!;
}

function copiedFiles(copy: Copy, root: string): CopiedFile[] {
  const paths = words(copy);
  const folder = paths.pop();
  if (!folder?.startsWith('/') || !folder.endsWith('/'))
    throw new Error(`cannot read Dockerfile: COPY to ${folder} is not to a folder by its absolute path`);
  return paths.map((path) => {
    if (!path.startsWith(`${root}/`))
      throw new Error(`cannot read Dockerfile: COPY of ${path} is from outside ${root}`);
    const source = path.slice(root.length + 1);
    return { source, destination: `${folder}${source.split('/').at(-1)}` };
  });
}

const propertiesOf = (instructions: readonly Instruction[]): (readonly [string, string])[] =>
  instructions.flatMap((each) =>
    (each as PropertyInstruction)
      .getProperties()
      .map((property) => [property.getName(), property.getValue() ?? ''] as const),
  );

const words = (instruction: Instruction): string[] =>
  instruction.getArguments().map((argument) => argument.getValue());
