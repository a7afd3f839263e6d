import { serveTasks } from './process/texts/serve';
import { configurationTasks } from './sync/configuration/generate/texts';
import { blueprintTask } from './sync/configuration/blueprint/read-blueprint';
import { themeTask } from './sync/community/theme-names';

// The program of the process that reads foreign texts: process/texts/text-process.ts starts it.
serveTasks([...configurationTasks, blueprintTask, themeTask]);
