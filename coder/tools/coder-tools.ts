import { applyPatch } from './apply-patch.ts';
import { grepFiles, listDir, readFile, shell } from './files.ts';
import { recordDecision } from './record-decision.ts';
import { submitTaskComplete } from './submit-task-complete.ts';
import type { CoderTool } from './tool.ts';

/** Every tool that a model is offered, in the order in which it is told of them. */
export const coderTools: readonly CoderTool[] = [
  readFile,
  listDir,
  grepFiles,
  applyPatch,
  shell,
  recordDecision,
  submitTaskComplete,
];
