import { isInside } from '../../engine/tool/inside.ts';
import { approvalKey, subjectDigest } from './approval-key.ts';
import { type ClassifiedUse, classifyUse } from './classify-use.ts';
import { matchesPattern } from './command-pattern.ts';
import { type Grant, type GrantMoment, isLive } from './grant.ts';
import { isCommand, type ToolUse } from './tool-use.ts';

/** An earlier word about a use. One of kind `once` is spent by it: whoever goes on says so (`grant-spent`). */
export interface Coverage {
  readonly verdict: 'go' | 'refuse';
  readonly grant: Grant;
}

/**
 * The earlier word that covers a use which would be asked about now; `undefined`: it is asked. What was declined
 * comes first. Outside the sandbox nothing counts but an answer to that very call. Every grant holds for one sandbox
 * policy and one branch, and a dangerous use is covered by its exact key, or by the word that allowed every command.
 */
export function covers(grants: readonly Grant[], use: ToolUse, now: GrantMoment): Coverage | undefined {
  const judged = classifyUse(use);
  const asked = { use, judged, key: approvalKey(use), subject: subjectDigest(use) };
  const live = grants.filter((grant) => isLive(grant, now) && isAbout(grant, use));
  const declined = live.find(({ kind }) => kind === 'declined');
  if (declined !== undefined) return { verdict: 'refuse', grant: declined };
  const grant = live.find((one) => reaches(one, asked));
  return grant && { verdict: 'go', grant };
}

function isAbout({ tool, action, sandbox, branch, kind }: Grant, { request, ...use }: ToolUse): boolean {
  if (tool !== request.tool || action !== request.action) return false;
  // A refusal does not end because the ground has changed.
  return kind === 'declined' || (sandbox === use.sandbox && branch === use.branch);
}

interface Asked {
  readonly use: ToolUse;
  readonly judged: ClassifiedUse;
  readonly key: string | undefined;
  readonly subject: string | undefined;
}

function reaches(grant: Grant, { use, judged, key, subject }: Asked): boolean {
  const isThisCall = grant.useId === use.id && grant.key === key;
  if (use.isOutside) return grant.kind === 'once' && isThisCall;
  const isHere = grant.cwd === use.cwd;
  const isHereOrBelow = isInside(grant.cwd, use.cwd);
  const isDangerous = judged.class === 'dangerous';
  switch (grant.kind) {
    case 'once':
      return isThisCall;
    case 'session':
    case 'ttl':
      return key !== undefined && grant.key === key;
    case 'directory':
      return (isDangerous ? isHere : isHereOrBelow) && subject !== undefined && grant.subject === subject;
    case 'pattern':
      return isHere && !isDangerous && matchesPattern(use, grant.pattern ?? []);
    case 'future':
      return isHereOrBelow && !isDangerous;
    case 'all_commands':
      return isCommand(use);
    case 'declined':
      return false;
  }
}
