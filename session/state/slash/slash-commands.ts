import { ask } from './ask.ts';
import { budget } from './budget.ts';
import { clear } from './clear.ts';
import { compact } from './compact.ts';
import { context } from './context.ts';
import { goalCancel } from './goal-cancel.ts';
import { goalStart } from './goal-start.ts';
import { goalStatus } from './goal-status.ts';
import { model } from './model.ts';
import { network } from './network.ts';
import { planContinue } from './plan-continue.ts';
import { review } from './review.ts';
import { shell } from './shell.ts';
import type { SlashCommand } from './slash-command.ts';
import { undo } from './undo.ts';
import { verify } from './verify.ts';

/** Every command that is a message, the same in a terminal, on a page and over the API; in the order of lists. */
export const slashCommands: readonly SlashCommand[] = [
  ask,
  shell,
  verify,
  planContinue,
  goalStart,
  goalStatus,
  goalCancel,
  budget,
  network,
  review,
  undo,
  context,
  model,
  compact,
  clear,
];
