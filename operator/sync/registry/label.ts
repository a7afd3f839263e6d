import { label as definition } from '../../kinds';
import type { EntryType } from './entry-type';

export const labels: EntryType = {
  type: 'label',
  definition,
  idField: 'labelID',
  reason: 'LabelRegistered',
  fields: {
    icon: { name: 'icon' },
    color: { name: 'color' },
    description: { name: 'description' },
  },
};
