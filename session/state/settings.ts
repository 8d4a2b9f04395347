/* The settings of a session that can change while it runs, and the words of their options, which help lists. */
import { compact } from '../../api/envelope.ts';
import type { SessionPolicy } from '../../engine/config/session-policy.ts';

/** Only `dev` changes anything. */
export type SessionContext = 'dev' | 'review' | 'research';

/** What a person may change of a session while it lasts. */
export interface SessionSettings {
  readonly context: SessionContext;
  /** What plans are proposed with; never `allow` in a context that only reads. */
  readonly networkAccess: 'allow' | 'deny';
  /** Changes are held until a person has reviewed them; absent: off. */
  readonly review?: 'on';
  /** Model id of the session's provider; absent: the one that it was started with. */
  readonly model?: string;
}

/** What a person wants changed of them. */
export type SettingChange = Partial<Omit<SessionSettings, 'review'>> & { readonly review?: 'on' | 'off' };

/** How a session was started, as far as it can be changed later. */
export interface StartedSettings extends Pick<SessionSettings, 'context' | 'networkAccess'> {
  /** Settings that were passed at the start; they override those of a resumed thread. */
  readonly named: readonly (keyof SessionSettings)[];
  /** The agent profile is read-only: no context makes the session writable. */
  readonly onlyReads: boolean;
  /** Limits of the repository and the machine, as they were when the process started. Absent: none. */
  readonly policy?: SessionPolicy;
}

/** The settings that a new session begins with. */
export function firstSettings({ context, networkAccess }: StartedSettings): SessionSettings {
  return sound({ context, networkAccess });
}

/** Where another process goes on: what its start names, and what was set before otherwise. */
export function resumedSettings(
  { named, onlyReads, policy = [], ...started }: StartedSettings,
  before: SessionSettings,
  isSameProvider: boolean,
): SessionSettings {
  const isNamed = named.includes('context') || (onlyReads && before.context === 'dev');
  const { context } = isNamed ? started : before;
  const isDenied = policy.some(({ network }) => network === 'deny');
  const { networkAccess } = named.includes('networkAccess') || isDenied ? started : before;
  const model = named.includes('model') || !isSameProvider ? undefined : before.model;
  const { review } = before;
  return sound({
    context,
    networkAccess,
    ...compact({ review, model }),
  });
}

/** A context that only reads has no network. */
export function sound(settings: SessionSettings): SessionSettings {
  return settings.context === 'dev' ? settings : { ...settings, networkAccess: 'deny' };
}

/** Accepted spellings of a context. */
export const sessionContexts: Readonly<Record<string, SessionContext>> = {
  dev: 'dev',
  development: 'dev',
  review: 'review',
  'code-review': 'review',
  research: 'research',
  explore: 'research',
};

/** When a tool call needs the approval of a person (docs/reference/approvals-of-commands.md). */
export type ApprovalPolicy = 'never' | 'allow-all' | 'on-failure' | 'on-request' | 'untrusted';

/** Accepted spellings of an approval policy (`--approval-policy`). */
export const approvalPolicies: Readonly<Record<string, ApprovalPolicy>> = {
  never: 'never',
  none: 'never',
  'allow-all': 'allow-all',
  allow_all: 'allow-all',
  always: 'allow-all',
  accept: 'allow-all',
  'on-failure': 'on-failure',
  'on-request': 'on-request',
  untrusted: 'untrusted',
  'unless-trusted': 'untrusted',
};
