// Starts the operator's bundle whose path is the first argument. Passes it settings from the environment that
// only tests and sandboxes use; the bundle itself does not read those variables.
import { createRequire } from 'node:module';

const {
  ALLOW_LOCAL_HUBS,
  FREEZE_CACHE,
  HUB_URL_ANNOTATION = '',
  HUB_SOURCE_ADDRESS = '',
  HUB_SETTLE_TIME,
} = process.env;
const [bundle, ...args] = process.argv.slice(2);
createRequire(import.meta.url)(bundle).run(args, {
  allowLocalHubs: ALLOW_LOCAL_HUBS === 'true',
  freezeCache: FREEZE_CACHE === 'true',
  hubUrlAnnotation: HUB_URL_ANNOTATION,
  hubSourceAddress: HUB_SOURCE_ADDRESS,
  ...(HUB_SETTLE_TIME && { hubSettleTime: Number(HUB_SETTLE_TIME) }),
});
