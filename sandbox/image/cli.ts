import { buildOperatorImage } from '.';

/** `make image-archive`: writes the operator's image as an archive. */
buildOperatorImage().then(
  ({ archive, name }) => console.log(`${archive} has the image ${name}.`),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
