import type { Issue } from '../../core/contract/issue.ts';
import { styled } from '../terminal/print.ts';
import type { CommandContext } from './command.ts';

/** Tells on stderr, also under `--json` and `--quiet`, what a run is told of before any work. */
export function tellIssue({ print }: Pick<CommandContext, 'print'>): (issue: Issue) => void {
  return ({ code, message }) => print.complain(styled('yellow', 'warning'), `: ${code}: ${message}`);
}
