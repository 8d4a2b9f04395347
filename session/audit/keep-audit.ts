import type { Clock } from '../../core/base/clock.ts';
import { equalSecret } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ClientCommand, Command } from '../state/command.ts';
import type { Fact } from '../state/fact.ts';
import type { SessionState } from '../state/state.ts';
import type { AuditAction } from './audit-line.ts';
import type { OpenAudit } from './open-audit.ts';
import { oneLine, summarise } from './summarise.ts';

/** Who did what to a session, written down as the channel takes its commands. */
export interface SessionAudit {
  /** Before anything of an accepted command has happened; EVIDENCE_WRITE_FAILED: it may not happen then. */
  accepted(command: Command, state: SessionState, facts: readonly Fact[]): Promise<void>;
  /** After a command was refused, or was accepted and could not be kept. Never rejects. */
  failed(command: Command, state: SessionState, fault: unknown): Promise<void>;
}

/** Failures that are written within a window; beyond them they are counted. */
const [mostFailures, windowMs] = [30, 60_000];

/** Keeps the audit log of a session: what clients did, and in a bounded number what they were refused. */
export function keepAudit(log: Pick<OpenAudit, 'append'>, clock: Pick<Clock, 'monotonic'>): SessionAudit {
  let at: number[] = [];
  let uncounted = 0;
  return {
    async accepted(command, state, facts) {
      if (!isClient(command)) return;
      if (command.type === 'reclaim' && state.lease === undefined) return;
      const principal_id = principalOf(command, state);
      const redacted_summary = summarise(command, state, facts);
      await log.append({ principal_id, action: actions[command.type], redacted_summary });
    },
    async failed(command, state, fault) {
      if (!isClient(command)) return;
      const now = clock.monotonic();
      at = at.filter((one) => one > now - windowMs);
      if (at.length >= mostFailures) {
        uncounted += 1;
        return;
      }
      at.push(now);
      const code = isWritError(fault) ? fault.code : 'INTERNAL';
      const more = uncounted === 0 ? '' : `; ${uncounted} refusals before it were not written`;
      const redacted_summary = `refused: ${code}${whatFor(command)}${more}`;
      uncounted = 0;
      const principal_id = command.type === 'attach' ? 'unproven' : principalOf(command, state);
      const action = actions[command.type];
      await log.append({ principal_id, action, redacted_summary }).catch(() => undefined);
    },
  };
}

const actions: Readonly<Record<ClientCommand['type'], AuditAction>> = {
  attach: 'attach',
  detach: 'detach',
  reclaim: 'detach',
  submit: 'submit',
  respond: 'respond',
  cancel: 'cancel',
  revoke: 'revoke',
  review: 'respond',
  dispatch: 'submit',
  'goal-start': 'submit',
  'goal-cancel': 'cancel',
};

function isClient(command: Command): command is ClientCommand {
  return Object.hasOwn(actions, command.type);
}

const maxClient = 120;

/** Who sent it, as far as he has shown: what a client says of itself counts only where its lease bears it out. */
function principalOf(command: ClientCommand, { lease, ground: { local } }: SessionState): string {
  if (command.type === 'attach') return `${command.kind}:${oneLine(command.clientId, maxClient)}`;
  if (command.type === 'reclaim' || command.proof.from === 'local') return local === 'cli' ? 'cli' : 'tui';
  const { tokenDigest = '' } = command.proof;
  const isHolder = lease !== undefined && equalSecret(lease.tokenDigest, tokenDigest);
  return isHolder ? `${lease.kind}:${oneLine(lease.clientId, maxClient)}` : 'unproven';
}

function whatFor(command: ClientCommand): string {
  if (command.type === 'attach')
    return `; who asked calls itself ${oneLine(`${command.kind}:${command.clientId}`, maxClient)}`;
  return command.type === 'respond' ? `; interaction ${oneLine(command.id, maxClient)}` : '';
}
