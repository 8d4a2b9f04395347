import type { TaskOrder } from '../../core/contract/worker.ts';
import { applyPatch } from './apply-patch.ts';
import { codeTools } from './code.ts';
import { grepFiles, listDir, readFile, shell } from './files.ts';
import { recordDecision } from './record-decision.ts';
import { requestUserInput, toldOfPerson } from './request-user-input.ts';
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
  ...codeTools,
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
export function toolsFor({
  web,
  hands,
  code,
  person,
}: Pick<TaskOrder, 'web' | 'hands' | 'code' | 'person'>): readonly CoderTool[] {
  const isOpen = (wants: CoderTool['wants']): boolean =>
    wants === undefined ||
    (wants === 'history' ? hands.seesHistory === true : web?.actions.includes(wants) === true);
  const offered = coderTools.filter(
    ({ wants, wantsCode }) =>
      isOpen(wants) && (wantsCode === undefined || code?.actions.includes(wantsCode) === true),
  );
  const files = `For files ending with ${code?.endings.join(', ')}.`;
  return offered
    .map((tool) => toldOfPerson(tool, person === undefined ? {} : { person }))
    .map((tool) => (tool.wantsCode === undefined ? tool : { ...tool, says: `${tool.says} ${files}` }));
}
