import { isLower } from '../../../operator/base/hub-version';
import { HUB_VERSION } from '../../cluster/home';

/** Whether an input_number of the hub can have a device class. */
export const hasDeviceClass = !isLower(HUB_VERSION, '2026.11.0');
