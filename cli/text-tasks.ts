import { cutHelpersTask } from './convert/cut-helpers';
import { definitionsTask, pastedKindTask } from './convert/definitions';
import { inventoryTask } from './convert/inventory';
import { yamlHelpersTask } from './convert/yaml-helpers';
import { serveTasks } from '../operator/process/texts/serve';
import { manifestsTask } from '../operator/offline/manifests';
import { blueprintTask } from '../operator/sync/configuration/blueprint/read-blueprint';
import { configurationTasks } from '../operator/sync/configuration/generate/texts';
import { withFieldsTask } from './pull/file-text';
import { testTextTask } from './test/file/read';
import { sameObjectTask } from './yaml/same-object';

/**
 * Limits of a result. They are larger than those of the operator: a user's files may have many resources, and
 * a command may use more memory.
 */
const LARGEST_RESULT = { values: 5_000_000, characters: 256 * 1_024 * 1_024 };

// The program of the process that reads texts for commands; started by
// operator/process/texts/text-process.ts.
serveTasks(
  [
    ...configurationTasks,
    blueprintTask,
    inventoryTask,
    definitionsTask,
    yamlHelpersTask,
    cutHelpersTask,
    pastedKindTask,
    manifestsTask,
    withFieldsTask,
    sameObjectTask,
    testTextTask,
  ],
  LARGEST_RESULT,
);
