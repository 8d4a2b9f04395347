import { canonicalDigest } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ApprovalQuestion, McpApproval, McpGround } from './mcp-ground.ts';

/** What a client that was asked by elicitation brought back. */
export interface ElicitedAnswer {
  /** The question it was, as `questionDigest` says, under a name that counts once. */
  readonly digest: string;
  readonly nonce: string;
  readonly approved: boolean;
}

/** How one call can ask its own client. */
export interface Elicitation {
  /** Present where this call comes back with an answer that we asked for. */
  readonly answer?: ElicitedAnswer;
  /** Ends the call with a question; it comes back with the answer. */
  readonly ask: (question: ApprovalQuestion, digest: string) => never;
}

/** Answers that were used, by their nonce: none counts twice. */
export type UsedAnswers = Set<string>;

const longestWaitMs = 300_000;
const maxUsed = 10_000;

/**
 * Resolves where a change may be made. First the policy; then whoever controls the session; then the client's own
 * person, where it offers to ask him; else APPROVAL_REQUIRED. APPROVAL_DENIED where somebody or the policy says no.
 * It ends after five minutes at the latest.
 */
export async function requireConsent(
  { approval: { policy, askController }, readsOnly }: Pick<McpGround, 'approval' | 'readsOnly'>,
  question: ApprovalQuestion,
  elicitation: Elicitation | undefined,
  used: UsedAnswers,
  signal: AbortSignal,
): Promise<void> {
  if (readsOnly())
    throw denied('a session of this context only reads', ['start it with another `--context`']);
  if (policy === 'allow-all') return;
  if (policy === 'never')
    throw denied('the approval policy is `never`', ['start the session with another `--approval-policy`']);
  const digest = questionDigest(question);
  const answer = elicitation?.answer;
  if (answer !== undefined && answer.digest === digest && !used.has(answer.nonce)) {
    if (used.size >= maxUsed) used.clear();
    used.add(answer.nonce);
    if (answer.approved) return;
    throw denied('the person at the client said no');
  }
  const said = await askWithin(askController, question, signal);
  if (said === 'approved') return;
  if (said === 'denied') throw denied('whoever controls the session said no');
  if (elicitation !== undefined) elicitation.ask(question, digest);
  throw new WritError('APPROVAL_REQUIRED', {
    message: `nobody can be asked whether to ${question.planned.title}`,
    detail: {
      expected: 'somebody who controls the session, or a client that offers elicitation',
      found: said,
    },
    hints: [
      'attach to the session and answer there, or use a client that offers elicitation',
      'start the session with `--approval-policy allow-all`, and every call is allowed',
      'do it with git, by hand',
    ],
  });
}

/** Of what is asked, and what it rests on: an answer to another question is none to this one. */
function questionDigest({ planned: { change, ground, title }, actor }: ApprovalQuestion): string {
  return canonicalDigest({ change, ground, title, actor });
}

async function askWithin(
  ask: McpApproval['askController'],
  question: ApprovalQuestion,
  signal: AbortSignal,
): Promise<'approved' | 'denied' | 'nobody' | 'silence'> {
  if (ask === undefined) return 'nobody';
  const late = AbortSignal.timeout(longestWaitMs);
  const over = AbortSignal.any([signal, late]);
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(over.reason);
  over.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([ask(question, over), ended]);
  } catch (fault) {
    signal.throwIfAborted();
    if (late.aborted) return 'silence';
    throw fault;
  } finally {
    over.removeEventListener('abort', end);
  }
}

function denied(message: string, hints: readonly string[] = []): WritError {
  return new WritError('APPROVAL_DENIED', { message, hints });
}
