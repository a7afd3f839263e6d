import { serveTasks } from '../../../../operator/process/texts/serve';
import { broken, deep, echo, fill, inPlace, spin, values } from './tasks';

serveTasks([echo, inPlace, spin, fill, deep, values, broken]);
