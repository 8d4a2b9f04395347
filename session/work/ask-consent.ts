import type { ToolRequest } from '../../core/interfaces/hook-payload.ts';
import type { LookAtChange } from '../../core/interfaces/person.ts';
import { describeApproval } from '../approvals/describe-approval.ts';
import { grantFrom } from '../approvals/grant-from.ts';
import { judgeApproval } from '../approvals/judge-approval.ts';
import type { GrantLedger } from '../approvals/keep-grants.ts';
import type { ToolUse } from '../approvals/tool-use.ts';
import type { Answered } from './answered.ts';
import type { TurnScope } from './turn-scope.ts';
import type { WorkSetting } from './work-setting.ts';

/** Where the tools of one run work, as an approval is bound to it. */
export interface ConsentGround extends Pick<ToolUse, 'cwd' | 'sandbox' | 'branch' | 'argv'> {
  /** Name of the back end that confines commands; absent where nothing does. */
  readonly backend?: string;
  /** What the sandbox kept a command of the same text from, when it was tried before. */
  readonly heldBack: (command: string) => string | undefined;
  /** Whoever would be asked has asked for it himself: what the policy refuses is refused, and nothing is asked. */
  readonly isOwnWord?: boolean;
}

/** What came of asking. */
type Consented = 'go' | 'abort' | { readonly refused: string };

/** Judges one call by policy and earlier answers, and asks where neither says. The answer is kept for later calls. */
export async function askConsent(
  {
    setting: { approval },
    ask,
    newId,
  }: Pick<TurnScope, 'ask' | 'newId'> & { readonly setting: Pick<WorkSetting, 'approval'> },
  request: ToolRequest,
  { backend, heldBack, isOwnWord = false, ...ground }: ConsentGround,
  lookAtChange?: LookAtChange,
): Promise<Consented> {
  const { policy, ttlSeconds, grants, mask } = approval;
  const use: ToolUse = { id: newId(), request, ...ground, isOutside: false };
  const held = request.command === undefined ? undefined : heldBack(request.command);
  const verdict = judgeApproval(policy, use, {
    ...(backend === undefined ? {} : { sandbox: backend }),
    ...(held === undefined ? {} : { heldBack: held }),
    // The network of a run is what a person chose at the review of its plan.
    leavesMachine: false,
  });
  if (verdict.verdict === 'go') return 'go';
  if (verdict.verdict === 'refuse') return { refused: verdict.why };
  if (isOwnWord) return 'go';
  const before = verdict.isFresh ? undefined : grants.take(use);
  if (before !== undefined)
    return before.verdict === 'go' ? 'go' : { refused: 'the person declined every call like it' };
  const change = await lookAtChange?.();
  const question = describeApproval(use, {
    why: verdict.why,
    isOfSandbox: verdict.isOfSandbox,
    isUnconfined: request.command !== undefined && backend === undefined,
    ttlSeconds,
    mask,
    ...(change === undefined ? {} : { change }),
  });
  const answered = await ask({ subject: `consent ${use.id}`, ...question });
  const { option, given, by } = answered;
  const { applyToFuture = 'no' } = given;
  grants.add(
    grantFrom({ option, ...(applyToFuture === 'no' ? {} : { applyToFuture }) }, use, {
      now: grants.now(),
      ttlSeconds,
      by,
      newId,
      mask,
    }),
  );
  return consented(answered, use, grants);
}

function consented({ option }: Answered, use: ToolUse, grants: GrantLedger): Consented {
  if (option === 'abort') return 'abort';
  // No answer but a consent grants anything, and what it grants has to cover this very call.
  if (grants.take(use)?.verdict === 'go') return 'go';
  return { refused: 'the person did not approve it' };
}
