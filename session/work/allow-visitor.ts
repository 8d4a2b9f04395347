import { realpath } from 'node:fs/promises';
import type { Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { sandboxDigest } from '../approvals/approval-key.ts';
import type { SessionChannel } from '../channel/open-channel.ts';
import type { ApprovalSetting } from './approval-setting.ts';
import { askConsent } from './ask-consent.ts';
import type { Visits } from './open-visits.ts';

/** What a client of another kind wants to do with version control. */
export interface VisitorUse {
  /** Its words, none left out. */
  readonly argv: readonly string[];
  /** What it would do, for a person. */
  readonly lines: readonly string[];
}

export interface VisitedSession {
  readonly channel: SessionChannel;
  readonly visits: Visits;
  readonly repository: Repository;
  readonly approval: ApprovalSetting;
  readonly newId: () => string;
}

/**
 * Asks whoever controls a session about a visitor's call, as about one of its own runs: by its policy, by what was
 * approved before, and with the same answers, which are kept as far as they say.
 */
export async function allowVisitor(
  { channel, visits, repository, approval, newId }: VisitedSession,
  { argv, lines }: VisitorUse,
  signal: AbortSignal,
): Promise<'approved' | 'denied' | 'nobody'> {
  const cwd = await realpath(repository.root);
  const { branch, commit } = await readHead(repository);
  const ground = {
    argv,
    cwd,
    branch: branch ?? commit ?? 'HEAD',
    sandbox: sandboxDigest({ backend: 'none', network: 'deny', hosts: [], writes: [cwd] }),
    heldBack: () => undefined,
  };
  const request = { runId: 'mcp', tool: 'vcs', action: 'write', paths: ['.'] };
  const told = await visits.visit(
    channel,
    (ask) =>
      askConsent(
        {
          setting: { approval },
          newId,
          ask: ({ description = '', ...question }) =>
            ask({ ...question, description: [description, ...lines].join('\n') }),
        },
        request,
        ground,
      ),
    signal,
  );
  if (told === 'go') return 'approved';
  return told === 'nobody' ? 'nobody' : 'denied';
}
