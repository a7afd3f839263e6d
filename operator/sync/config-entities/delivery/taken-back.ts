import { truncate } from '../../../base/truncate';
import { HubRejected } from '../../../client/connection/errors';

/** Characters of the hub's words about a definition, which may quote all of it. */
const LONGEST_WORDS = 500;

/** A delivered definition was taken out again, since the hub does not load it. Not tried again with time: the former one would be out for a while. */
export class TakenBack extends HubRejected {
  constructor(words: string) {
    super('400', truncate(words, LONGEST_WORDS));
  }
}
