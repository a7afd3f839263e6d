import { area as definition } from '../../kinds';
import type { EntryType } from './entry-type';
import { floors } from './floor';
import { labels } from './label';

export const areas: EntryType = {
  type: 'area',
  definition,
  idField: 'areaID',
  reason: 'AreaRegistered',
  fields: {
    floorName: { name: 'floor_id', refersTo: { entryType: floors, reason: 'FloorNotReady' } },
    labels: { name: 'labels', isSet: true, refersTo: { entryType: labels, reason: 'LabelNotReady' } },
    icon: { name: 'icon' },
    aliases: { name: 'aliases', isSet: true },
    picture: { name: 'picture' },
    temperatureEntityId: { name: 'temperature_entity_id' },
    humidityEntityId: { name: 'humidity_entity_id' },
  },
};
