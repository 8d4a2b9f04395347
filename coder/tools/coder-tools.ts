import type { TaskOrder } from '../../core/contract/worker.ts';
import { applyPatch } from './apply-patch.ts';
import { grepFiles, listDir, readFile, shell } from './files.ts';
import { recordDecision } from './record-decision.ts';
import { requestUserInput } from './request-user-input.ts';
import { submitTaskComplete } from './submit-task-complete.ts';
import type { CoderTool } from './tool.ts';
import { updatePlan } from './update-plan.ts';
import { runWritVcs } from './vcs.ts';
import { readPage, webSearch } from './web.ts';

/** Every tool, in the order in which a model is told of them. */
const coderTools: readonly CoderTool[] = [
  readFile,
  listDir,
  grepFiles,
  applyPatch,
  shell,
  runWritVcs,
  webSearch,
  readPage,
  updatePlan,
  requestUserInput,
  recordDecision,
  submitTaskComplete,
];

/** Those that a model is offered for a Task. */
export function toolsFor({ web, hands }: Pick<TaskOrder, 'web' | 'hands'>): readonly CoderTool[] {
  return coderTools.filter(
    ({ wants }) =>
      wants === undefined ||
      (wants === 'history' ? hands.seesHistory === true : web?.actions.includes(wants) === true),
  );
}
