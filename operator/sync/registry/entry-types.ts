import { areas } from './area';
import type { EntryType } from './entry-type';
import { floors } from './floor';
import { labels } from './label';
import { zones } from './zone';

/** One line per kind whose objects are entries in registries or collections of the hub. */
export const entryTypes: readonly EntryType[] = [floors, labels, areas, zones];
