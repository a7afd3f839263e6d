import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Ends the storages that a test file has begun to use. jest makes one for each file and leaves it on, and up to Node.js 22 each
 * promise of the process then has a field for each storage that is on: after a hundred files that is a tenth of the time.
 */
export default class extends TestEnvironment {
  storages = new Set();
  run = AsyncLocalStorage.prototype.run;

  async setup() {
    await super.setup();
    const { run, storages } = this;
    AsyncLocalStorage.prototype.run = function (...args) {
      storages.add(this);
      return run.apply(this, args);
    };
  }

  async teardown() {
    AsyncLocalStorage.prototype.run = this.run;
    for (const storage of this.storages) storage.disable();
    await super.teardown();
  }
}
