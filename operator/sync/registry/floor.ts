import { floor as definition } from '../../kinds';
import type { EntryType } from './entry-type';

export const floors: EntryType = {
  type: 'floor',
  definition,
  idField: 'floorID',
  reason: 'FloorRegistered',
  fields: {
    level: { name: 'level' },
    icon: { name: 'icon' },
    aliases: { name: 'aliases', isSet: true },
  },
};
