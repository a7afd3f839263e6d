// eslint-disable-next-line no-restricted-imports -- the one place that configures it
import fc from 'fast-check';
import { seed } from './seed';

// A failed property prints the seed. With that seed in SEED the same values are generated again.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export default fc;
