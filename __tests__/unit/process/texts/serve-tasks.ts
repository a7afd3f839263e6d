import { serveTasks } from '../../../../operator/process/texts/serve';
import { broken, burn, deep, echo, fill, inPlace, sleep, spin, values } from './tasks';

serveTasks([echo, inPlace, spin, sleep, fill, deep, values, broken, burn]);
