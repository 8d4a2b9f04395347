/** Builds the question about a tool use that needs approval. */
import { compact } from '../../api/envelope.ts';
import type { FileChange } from '../../core/interfaces/hook-payload.ts';
import type { InteractionKind } from '../state/interaction.ts';
import type { ApprovalMetadata, ShownSegment } from '../state/question.ts';
import type { ApprovalPolicy } from '../state/settings.ts';
import type { Segment } from './classify-command.ts';
import {
  commandLines,
  type Mask,
  maskedCommand,
  maskedWord,
  useText,
  visibleText,
} from './judge-approval.ts';
import {
  approvalKey,
  type ClassifiedUse,
  classifyUse,
  commandPattern,
  isCommand,
  isScoped,
  subjectOf,
  type ToolUse,
} from './tool-use.ts';
import { writtenChange } from './written-change.ts';

const most = {
  text: 4000,
  arguments: 2000,
  lines: 40,
  line: 200,
  title: 120,
  word: 300,
  words: 40,
  segments: 40,
  unproven: 20,
  description: 6000,
} as const;

/** A question about a use, as an interaction holds it. */
export interface ApprovalQuestion {
  readonly kind: Extract<InteractionKind, 'approval' | 'sandbox_approval'>;
  readonly title: string;
  readonly description: string;
  readonly metadata: ApprovalMetadata;
}

export interface AskedWith {
  readonly why: string;
  /** The reason is the sandbox: it blocked the use before, or there is none. */
  readonly isOfSandbox?: boolean;
  /** This machine has no sandbox: it is made outside of any. */
  readonly isUnconfined?: boolean;
  readonly policy?: ApprovalPolicy;
  readonly ttlSeconds: number;
  readonly mask: Mask;
  /** What it would make of its file. */
  readonly change?: FileChange;
}

/**
 * Describes a use for the person who approves it: each command with verdict and rule, what is not proven, what the
 * answer is bound to, and what each option covers. Masked, printable, bounded. Pure.
 */
export function describeApproval(
  use: ToolUse,
  { why, isOfSandbox = false, isUnconfined = false, policy, ttlSeconds, mask, change }: AskedWith,
): ApprovalQuestion {
  const judged = classifyUse(use);
  const isOutside = use.isOutside || isUnconfined;
  const text = useText(use, mask, most.text);
  const written = commandLines(use, mask, most);
  const given = use.request.arguments && visibleText(use.request.arguments, mask, most.arguments);
  const segments = (judged.command?.segments ?? [])
    .slice(0, most.segments)
    .map((one) => shownSegment(one, mask));
  const left = (judged.command?.segments.length ?? 0) - segments.length;
  const unproven = unprovenOf(judged)
    .slice(0, most.unproven)
    .map((one) => visibleText(one, mask, most.word));
  const reason = visibleText(why, mask, most.word);
  const lines = [
    text,
    ...(given === undefined ? [] : [`Arguments: ${given}`]),
    `Asked because ${reason}.`,
    ...segments.map((one) => `${one.verdict}: ${one.text} (${one.rule}: ${one.why})`),
    ...(left > 0 ? [`and ${left} more commands`] : []),
    ...unproven.map((one) => `Not proven: ${one}`),
  ];
  return {
    kind: isOutside || isOfSandbox ? 'sandbox_approval' : 'approval',
    title: titleOf(use, isOutside, judged),
    description: visibleLines(lines),
    metadata: {
      tool: visibleText(use.request.tool, mask, most.word),
      action: visibleText(use.request.action, mask, most.word),
      ...(judged.kind === 'command' ? { command: text } : { subject: text }),
      ...(written.length === 0 ? {} : { commandLines: written }),
      ...compact({ arguments: given }),
      ...(change === undefined ? {} : { change: writtenChange(change, mask) }),
      ...(use.request.task === undefined ? {} : { task: visibleText(use.request.task, mask, most.word) }),
      cwd: visibleText(use.cwd, mask, most.text),
      branch: visibleText(use.branch, mask, most.word),
      sandboxPolicyDigest: use.sandbox,
      isOutsideSandbox: isOutside,
      reason,
      verdict: judged.class,
      rule: judged.rule,
      segments,
      ...(left > 0 ? { moreSegments: left } : {}),
      unproven,
      ...keyOf(use, mask),
      ttlSeconds,
      ...(policy === 'untrusted' ? { approvalPolicy: policy } : {}),
      reuse: reuseOf(use, ttlSeconds),
    },
  };
}

function titleOf(use: ToolUse, isOutside: boolean, { kind, class: verdict }: ClassifiedUse): string {
  const where = isOutside ? ' outside the sandbox' : '';
  switch (kind) {
    case 'command':
      return `Run a${verdict === 'dangerous' ? ' dangerous' : ''} command${where}`;
    case 'writing':
      return `Change files${where}`;
    case 'reading':
      return `Read files${where}`;
    case 'web':
      return 'Ask another machine';
    case 'version-control':
      return `Change what version control holds${where}`;
    case 'mcp':
      return use.request.action === 'start' ? 'Start an MCP server' : 'Use a tool of an MCP server';
    case 'other':
      return `Use a tool that is not known here${where}`;
  }
}

/** One command of the command tree: its words and its classification. */
function shownSegment({ command, class: verdict, rule, why }: Segment, mask: Mask): ShownSegment {
  const words = command.argv.slice(0, most.words).map((word) => ({
    text: visibleText(maskedWord(word, mask) ?? word.literal ?? word.text, mask, most.word),
    ...(word.literal === undefined ? { isKnown: false as const } : {}),
  }));
  const left = command.argv.length - words.length;
  return {
    text: [...words.map((word) => word.text), ...(left > 0 ? ['…'] : [])].join(' '),
    words,
    ...(command.assignments.length === 0 ? {} : { assigns: command.assignments.slice(0, most.words) }),
    verdict,
    rule,
    why: visibleText(why, mask, most.word),
  };
}

function unprovenOf({ kind, why, class: verdict, command }: ClassifiedUse): readonly string[] {
  if (command !== undefined) return command.unproven;
  return verdict === 'safe' ? [] : kind === 'other' ? [why] : [];
}

/** The key that the answer is bound to. Text with a secret gets no digest, because a digest would allow guessing. */
function keyOf(
  use: ToolUse,
  mask: Mask,
): Pick<ApprovalMetadata, 'isExact' | 'keyForm' | 'argv' | 'approvalKey'> {
  const subject = subjectOf(use);
  if (subject === undefined) return { isExact: false };
  const exact = subject.form === 'argv' ? subject.words : [subject.text];
  const joined = exact.join(' ');
  const isOpen = mask(joined) === joined && maskedCommand(joined, mask) === joined;
  return {
    isExact: true,
    keyForm: subject.form,
    ...(subject.form === 'argv'
      ? { argv: exact.slice(0, most.words).map((word) => visibleText(word, mask, most.word)) }
      : {}),
    ...(isOpen ? compact({ approvalKey: approvalKey(use) }) : {}),
  };
}

/** Lines of which none can pass for two, cut where there are too many. */
function visibleLines(lines: readonly string[]): string {
  const all = lines.join('\n');
  return all.length <= most.description ? all : `${all.slice(0, most.description - 1).toWellFormed()}…`;
}

/** What each option covers, in words. */
function reuseOf(use: ToolUse, ttlSeconds: number): Readonly<Record<string, string>> {
  const once = 'this one call';
  const deny = { deny: 'nothing: it is not made', abort: 'nothing: it is not made, and the turn stops' };
  const scope = isScoped(use)
    ? {
        approve_scope:
          'every change of a file in the scope of the plan, deletions included, until this run ends',
      }
    : {};
  const same = (text: string) => ({
    approve: once,
    ...scope,
    approve_session: text,
    approve_ttl: text,
    approve_directory_ttl: text,
    approve_pattern_ttl: text,
  });
  const everything = isCommand(use)
    ? 'every command, dangerous ones included, in this sandbox on this branch, until writ ends; asked twice'
    : 'this one call, and every command in this sandbox on this branch, until writ ends; what is no command, as the next file, is asked about all the same; asked twice';
  if (use.isOutside) {
    const fresh = 'this one call: outside the sandbox every call is asked about';
    return { ...same(fresh), allow_all_commands: fresh, ...deny };
  }
  if (approvalKey(use) === undefined) {
    const inexact = 'this one call: what it does is not known here to the last character';
    return { ...same(inexact), allow_all_commands: everything, ...deny };
  }
  const judged = classifyUse(use);
  const time = `for ${ttlSeconds} s`;
  const here = 'in this directory, in this sandbox, on this branch';
  const pattern = commandPattern(use, judged);
  const isDangerous = judged.class === 'dangerous';
  const exactly = judged.kind === 'mcp' ? mcpWords(use) : 'exactly this';
  const reused = {
    approve: judged.kind === 'mcp' ? `until writ ends: ${exactly}, as it is declared now, ${here}` : once,
    ...scope,
    approve_session: `until writ ends: ${exactly}, ${here}`,
    approve_ttl: `${time}: ${exactly}, ${here}`,
    approve_directory_ttl: isDangerous
      ? `${time}: ${exactly}, ${here}; a dangerous command is not allowed elsewhere`
      : `${time}: ${exactly}, in this directory and below, in this sandbox, on this branch`,
    approve_pattern_ttl:
      pattern === undefined
        ? `${time}: ${exactly}, ${here}${isCommand(use) ? '; commands like it cannot be recognised by their first words' : ''}`
        : `${time}: every plain command that begins with \`${pattern.join(' ')}\` and is not dangerous, ${here}`,
    allow_all_commands: everything,
    ...deny,
  };
  return ttlSeconds > 0
    ? reused
    : { ...reused, approve_ttl: once, approve_directory_ttl: once, approve_pattern_ttl: once };
}

/** An answer about a tool of an MCP server covers it with any arguments. */
function mcpWords({ request: { action } }: ToolUse): string {
  return action === 'start' ? 'exactly this' : 'this tool with any arguments';
}
