// Starts a bundle of the operator, the first argument, with the settings that only tests and sandboxes give, from the
// environment. The bundle itself reads none of them.
import { createRequire } from 'node:module';

const { ALLOW_LOCAL_HUBS, FREEZE_CACHE, HUB_URL_ANNOTATION = '', HUB_SOURCE_ADDRESS = '' } = process.env;
const [bundle, ...args] = process.argv.slice(2);
createRequire(import.meta.url)(bundle).run(args, {
  allowLocalHubs: ALLOW_LOCAL_HUBS === 'true',
  freezeCache: FREEZE_CACHE === 'true',
  hubUrlAnnotation: HUB_URL_ANNOTATION,
  hubSourceAddress: HUB_SOURCE_ADDRESS,
});
