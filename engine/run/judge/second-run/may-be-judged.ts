import type { Finding } from '../../../../core/contract/finding.ts';
import { isTooling } from '../../../../readers/judges/rules.ts';

/** What names other files as a command does, and judges nothing by itself. */
const ofCommands =
  /[/`](?:package\.json|composer\.json|(?:GNU)?[Mm]akefile|[Jj]ustfile|\.justfile|[Tt]askfile[\w.-]*|[\w.-]+\.mk)`/;
const ofCheck = /^the command of check /;

/**
 * Whether a file that rule `judge-changed` tells may be what is judged: a script leads to it, and its place is none of
 * tooling. A file that a command names, configuration and manifests judge.
 */
export function mayBeJudged({ path, detail }: Finding): boolean {
  const { role, via } = detail ?? {};
  if (role !== 'script' || path === undefined || typeof via !== 'string') return false;
  return !ofCheck.test(via) && !ofCommands.test(via) && !isTooling(path);
}
