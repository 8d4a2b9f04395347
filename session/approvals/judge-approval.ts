/** Decides by policy whether a tool use needs approval. */
import { unseen } from '../../core/base/printable.ts';
import type { ShellWord } from '../../workspace/shell/shell.ts';
import type { ApprovalPolicy } from '../state/settings.ts';
import { classifyCommand } from './classify-command.ts';
import { type ClassifiedUse, classifyUse, isCommand, type ToolUse } from './tool-use.ts';

/** Facts about a use that are not in its request. */
export interface ApprovalFacts {
  /** Name of the sandbox back end that confines commands. Absent if none does. */
  readonly sandbox?: string;
  /** What the sandbox blocked when the same command ran before, if known. */
  readonly heldBack?: string;
  /** Something of it goes to another machine, and no answer of a person has opened that way before. */
  readonly leavesMachine: boolean;
}

type ApprovalVerdict =
  | { readonly verdict: 'go'; readonly why: string }
  /** `isFresh`: no earlier answer covers it. `isOfSandbox`: for what a sandbox does, or because there is none. */
  | {
      readonly verdict: 'ask';
      readonly why: string;
      readonly isFresh: boolean;
      readonly isOfSandbox: boolean;
    }
  | { readonly verdict: 'refuse'; readonly why: string };

/**
 * Decides whether a use that passed rules and scope needs approval. Pure. What it cannot classify needs a question,
 * or is refused if the policy allows none.
 */
export function decideApproval(policy: ApprovalPolicy, use: ToolUse, facts: ApprovalFacts): ApprovalVerdict {
  const judged = classifyUse(use);
  const { kind, why } = judged;
  if (use.isOutside) {
    const outside = 'it asks to be made outside the sandbox';
    return policy === 'never' ? refuse(outside) : ask(outside, true, true);
  }
  if (policy === 'allow-all') return go('every tool call is allowed in this session');
  if (kind === 'command' && facts.sandbox === undefined) {
    const unconfined = 'nothing confines commands here: this machine has no sandbox that works';
    return policy === 'never' ? refuse(unconfined) : ask(unconfined, false, true);
  }
  if (kind === 'reading') return go(why);
  switch (policy) {
    case 'never':
      if (judged.class === 'dangerous' || isUnconfined(judged)) return refuse(why);
      return go(judged.class === 'safe' ? why : 'it is not known to be dangerous');
    case 'on-failure':
      if (facts.heldBack !== undefined)
        return ask(`the sandbox kept it from what it wanted, before: ${facts.heldBack}`, false, true);
      return isUnconfined(judged) ? ask(why) : go(confined(facts));
    case 'on-request':
      if (judged.class === 'dangerous' || isUnconfined(judged)) return ask(why);
      if (facts.leavesMachine) return ask('something of it goes to another machine');
      return go(kind === 'writing' ? 'the plan was approved' : confined(facts));
    case 'untrusted':
      return judged.class === 'safe' && !facts.leavesMachine ? go(why) : ask(why);
  }
}

function confined({ sandbox = '' }: ApprovalFacts): string {
  return `the sandbox (${sandbox}) confines it`;
}

/** No sandbox, or none that holds what they do elsewhere, limits these tools: only rules and scope do. */
function isUnconfined({ kind }: ClassifiedUse): boolean {
  return kind === 'version-control' || kind === 'mcp' || kind === 'other';
}

function go(why: string): ApprovalVerdict {
  return { verdict: 'go', why };
}

function ask(why: string, isFresh = false, isOfSandbox = false): ApprovalVerdict {
  return { verdict: 'ask', why, isFresh, isOfSandbox };
}

function refuse(why: string): ApprovalVerdict {
  return { verdict: 'refuse', why: `${why}, and the policy \`never\` prompts no one` };
}

/** Masks and escapes untrusted text for display. */

export type Mask = (text: string) => string;

/** A use in one line, as a person may be shown it; of a command its text. */
export function useText(use: Pick<ToolUse, 'request' | 'argv'>, mask: Mask, most: number): string {
  const { tool, action, command, paths = [], query } = use.request;
  if (isCommand(use)) return visibleText(maskedCommand(command ?? '', mask), mask, most);
  const words = use.argv ?? (command === undefined ? (query === undefined ? paths : [query]) : [command]);
  const named = words.map((word) => visibleText(word, mask, most)).join(' ');
  return visibleText(`${tool} ${action} ${named}`.trimEnd(), mask, most);
}

/** Lines of a command that has several, each as a person may be shown it; none where it is one line. */
export function commandLines(
  use: Pick<ToolUse, 'request' | 'argv'>,
  mask: Mask,
  most: { readonly lines: number; readonly line: number },
): readonly string[] {
  if (!isCommand(use)) return [];
  const lines = maskedCommand(use.request.command ?? '', mask).split('\n');
  if (lines.length < 2) return [];
  const left = lines.length - most.lines;
  return [
    ...lines.slice(0, most.lines).map((line) => visibleText(line, mask, most.line)),
    ...(left > 0 ? [`… and ${left} more ${left === 1 ? 'line' : 'lines'}`] : []),
  ];
}

/** A word as the shell makes it, as far as it is known; masked, where that changes it. */
export function maskedWord({ literal, head }: ShellWord, mask: Mask): string | undefined {
  const known = literal ?? head;
  const masked = mask(known);
  if (masked === known) return undefined;
  return literal === undefined ? `${masked}…` : masked;
}

/** Masks shell text. A secret that is split by quotes is found in the unquoted word. */
export function maskedCommand(text: string, mask: Mask): string {
  const masked = mask(text);
  const words = classifyCommand(text).segments.flatMap(({ command }) => command.argv);
  const known = words.map(({ literal, head }) => literal ?? head).join('\n');
  // Mask the whole text first: nearly every command contains no secret.
  if (mask(known) === known) return masked;
  return words.reduce((shown, word) => {
    const hidden = maskedWord(word, mask);
    return hidden === undefined ? shown : shown.replaceAll(word.text, () => hidden);
  }, masked);
}

/**
 * Untrusted text for display: masks secrets, escapes control, bidirectional and invisible characters, then shortens
 * the text.
 */
export function visibleText(text: string, mask: (text: string) => string, most: number): string {
  const shown = mask(text).replaceAll(unseen, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
  const letters = [...shown.slice(0, 2 * most + 2)];
  return letters.length <= most ? shown : `${letters.slice(0, most - 1).join('')}…`;
}
