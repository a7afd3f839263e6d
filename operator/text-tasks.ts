import { serveTasks } from './process/texts/serve';
import { configurationTasks } from './sync/configuration/generate/texts';
import { themeTask } from './sync/community/theme-names';

// The program of the process that reads foreign texts: process/texts/text-process.ts starts it.
serveTasks([...configurationTasks, themeTask]);
