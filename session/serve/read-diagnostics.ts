import type { SelfTest } from '../self-test/try-to-approve.ts';
import { toSnapshot } from '../state/snapshot.ts';
import { pendingOf, type SessionState } from '../state/state.ts';

/** What a session runs on, without anything secret. */
export interface DiagnosticsFacts {
  readonly provider: string;
  /** Where the key of the provider was found, never the key; absent where it needs none. */
  readonly key: { readonly name: string; readonly source: string } | undefined;
  readonly logFile: string | undefined;
  /** Back end that commands run in, and what it holds when it is tried out. */
  readonly sandbox: () => Promise<{ readonly backend: string; readonly enforced: readonly string[] }>;
  /** Whether a command could approve itself. */
  readonly selfTest: () => Promise<SelfTest>;
  readonly ports: () => { readonly web: number; readonly mcp?: number };
}

/** What diagnostics tell of a session as it is when that is known: redacted, nothing that anybody said. */
export async function readDiagnostics(state: () => SessionState, facts: DiagnosticsFacts) {
  const [sandbox, { isTried, reached }] = await Promise.all([facts.sandbox(), facts.selfTest()]);
  const now = state();
  const { provider, key, logFile } = facts;
  const { controller, provider: asked } = toSnapshot(now);
  const [pending] = pendingOf(now);
  const lastError = lastErrorOf(now);
  return {
    pid: process.pid,
    provider,
    ...(asked.model === undefined ? {} : { model: asked.model }),
    ...(key === undefined ? {} : { key }),
    threadId: now.ground.threadId,
    status: now.status,
    controller,
    attachable: now.ground.attachable,
    ports: facts.ports(),
    sandbox: {
      ...sandbox,
      selfApproval: isTried ? (reached.length > 0 ? 'possible' : 'impossible') : 'not_tried',
    },
    ...(logFile === undefined ? {} : { logFile }),
    ...(pending === undefined ? {} : { activeInteractionId: pending.id }),
    ...(lastError === undefined ? {} : { lastError }),
  };
}

/** Its code alone: a sentence can hold what a provider or a command said. */
function lastErrorOf({ status, transcript }: SessionState): string | undefined {
  if (status !== 'error') return undefined;
  const content = transcript.findLast(({ kind }) => kind === 'info_note')?.content ?? '';
  return /^([A-Z][A-Z0-9_]{2,60})(?::|$)/.exec(content)?.[1] ?? 'TURN_FAILED';
}
