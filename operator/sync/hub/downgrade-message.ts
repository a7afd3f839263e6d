import { userAnnotations } from '../../kinds/annotations';

/** @param place the volume, in words */
export const downgradeMessage = (ran: string, version: string, place: string): string =>
  `${ran} has run on ${place}, and ${version} is older: it may not be able to read what is there. ` +
  `Set spec.version to ${ran} or later, or restore a backup and annotate the Hub with ${userAnnotations.allowDowngrade}=true.`;
