import type { Speaker } from '../state/fact.ts';
import { type InteractionAnswer, isConsent } from '../state/interaction.ts';
import { approvalKey, subjectDigest } from './approval-key.ts';
import { classifyUse } from './classify-use.ts';
import { commandPattern } from './command-pattern.ts';
import type { Grant, GrantKind, GrantMoment } from './grant.ts';
import type { ToolUse } from './tool-use.ts';
import { type Mask, useText } from './use-text.ts';

/** What an answer is turned into grants with. */
export interface GrantGround {
  readonly now: GrantMoment;
  /** How long an answer "for a while" counts; 0: that one call. */
  readonly ttlSeconds: number;
  readonly by: Speaker;
  /** A new id, other at each call. */
  readonly newId: () => string;
  readonly mask: Mask;
}

const longestText = 200;
/** A day; whoever wants more asks for the session. */
const longestTtlMs = 86_400_000;
const commandTool = { tool: 'workspace.command', action: 'execute' } as const;

/**
 * What an accepted answer about a use means: that this one call goes (kind `once`), what it says about uses to come,
 * or nothing. An answer that is no consent grants nothing, whatever else it says. Outside the sandbox, and where what
 * is done is not known exactly, every consent is about this one call. Pure.
 */
export function grantFrom(
  { option, applyToFuture }: Pick<InteractionAnswer, 'option' | 'applyToFuture'>,
  use: ToolUse,
  ground: GrantGround,
): readonly Grant[] {
  const text = useText(use, ground.mask, longestText);
  const make = (kind: GrantKind, more: Partial<Grant>, what: string): Grant => ({
    id: ground.newId(),
    kind,
    tool: use.request.tool,
    action: use.request.action,
    cwd: use.cwd,
    sandbox: use.sandbox,
    branch: use.branch,
    what,
    grantedBy: ground.by,
    at: ground.now,
    ...more,
  });
  if (!isConsent(option)) {
    const isLasting = applyToFuture === 'decline_all' && (option === 'deny' || option === 'abort');
    return isLasting ? [make('declined', {}, `no ${use.request.tool} ${use.request.action}`)] : [];
  }
  const key = approvalKey(use);
  const keyed = key === undefined ? {} : { key };
  const once = make('once', { ...keyed, useId: use.id }, text);
  if (use.isOutside) return [once];
  const reused = reusedBy(option, use, key, make, text, ttlOf(ground));
  const future = applyToFuture === 'accept_all' ? futureOf(use, make, ttlOf(ground)) : [];
  return [once, ...reused, ...future];
}

type Make = (kind: GrantKind, more: Partial<Grant>, what: string) => Grant;

function ttlOf({ ttlSeconds }: GrantGround): number {
  return ttlSeconds > 0 ? Math.min(ttlSeconds * 1000, longestTtlMs) : 0;
}

function reusedBy(
  option: string,
  use: ToolUse,
  key: string | undefined,
  make: Make,
  text: string,
  ttlMs: number,
): readonly Grant[] {
  if (option === 'allow_all_commands') return [make('all_commands', commandTool, 'every command')];
  if (key === undefined) return [];
  if (option === 'approve_session') return [make('session', { key }, text)];
  if (ttlMs === 0) return [];
  if (option === 'approve_ttl') return [make('ttl', { key, ttlMs }, text)];
  const judged = classifyUse(use);
  const subject = subjectDigest(use);
  if (option === 'approve_directory_ttl' && subject !== undefined)
    return [make('directory', { subject, ttlMs }, text)];
  if (option !== 'approve_pattern_ttl') return [];
  const pattern = commandPattern(use, judged);
  return pattern === undefined
    ? [make('ttl', { key, ttlMs }, text)]
    : [make('pattern', { pattern, ttlMs }, `${pattern.join(' ')} …`)];
}

function futureOf(use: ToolUse, make: Make, ttlMs: number): readonly Grant[] {
  if (ttlMs === 0) return [];
  const { tool, action } = use.request;
  const isCommands = tool === commandTool.tool;
  const what = isCommands ? 'every command that is not dangerous' : `every ${tool} ${action}`;
  return [make('future', { ttlMs }, what)];
}
