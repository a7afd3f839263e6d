// eslint-disable-next-line no-restricted-imports -- the one place that configures it
import fc from 'fast-check';
import { seed } from './seed';

// A property that fails prints the seed; with it in SEED the same values come again.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export default fc;
