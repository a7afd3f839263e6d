import { serveTasks } from '../../../../operator/process/texts/serve';
import { broken, burn, deep, echo, fill, inPlace, spin, values } from './tasks';

serveTasks([echo, inPlace, spin, fill, deep, values, broken, burn]);
