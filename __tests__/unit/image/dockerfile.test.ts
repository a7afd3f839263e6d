import { baseImages, readDockerfile } from '../../../image/dockerfile';

const FINAL = `FROM registry.example:5000/base:1@sha256:abc
COPY --from=build /source/out/a.cjs /source/LICENSE /app/
USER 1:2
ENTRYPOINT ["/bin/run", "--flag", "/app/a.cjs"]
`;
const DOCKERFILE = `FROM node:24 AS build
WORKDIR /source
RUN make
${FINAL}`;

describe('readDockerfile', () => {
  test('reads the last stage, with files from where the other stage stands for the repository', () => {
    expect(readDockerfile(DOCKERFILE)).toEqual({
      base: { name: 'registry.example:5000/base', tag: '1', digest: 'sha256:abc' },
      user: '1:2',
      entrypoint: ['/bin/run', '--flag', '/app/a.cjs'],
      environment: {},
      ports: [],
      labels: {},
      copies: [
        { source: 'out/a.cjs', destination: '/app/a.cjs' },
        { source: 'LICENSE', destination: '/app/LICENSE' },
      ],
    });
  });

  test('puts build arguments into labels, and leaves out those that are empty', () => {
    const text = `${DOCKERFILE}ARG VERSION
LABEL title="Two words" version="$VERSION" \\
      commit="\${COMMIT}"
ENV A=1 B="two words"
EXPOSE 80 443
`;
    expect(readDockerfile(text, { VERSION: '1.2.3' })).toMatchObject({
      labels: { title: 'Two words', version: '1.2.3' },
      environment: { A: '1', B: 'two words' },
      ports: [80, 443],
    });
    expect(readDockerfile(text).labels).toEqual({ title: 'Two words' });
  });

  test.each([
    ['', 'it has no FROM'],
    [FINAL, 'there is no stage build with a WORKDIR'],
    [DOCKERFILE.replace('USER 1:2\n', ''), 'its last stage has no USER'],
    [`${DOCKERFILE}RUN rm -rf /app\n`, 'RUN in its last stage is not understood'],
    [`${DOCKERFILE}COPY LICENSE /app/\n`, 'its last stage has a COPY that is from no other stage'],
    [DOCKERFILE.replace('/source/LICENSE', '/LICENSE'), 'COPY of /LICENSE is from outside /source'],
    [DOCKERFILE.replace(' /app/\n', ' app\n'), 'COPY to app is not to a folder by its absolute path'],
  ])('refuses what it would get wrong: %#', (text, problem) => {
    expect(() => readDockerfile(text)).toThrow(`cannot read Dockerfile: ${problem}`);
  });
});

describe('baseImages', () => {
  test('are the images of all stages that are not stages themselves', () => {
    const names = baseImages(`FROM a:1 AS one\nFROM one AS two\nFROM b@sha256:c\n`);
    expect(names).toEqual([
      { name: 'a', tag: '1', digest: undefined },
      { name: 'b', tag: undefined, digest: 'sha256:c' },
    ]);
  });
});
