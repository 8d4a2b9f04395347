/** Decides by policy whether a tool use needs approval. */
import type { ApprovalPolicy } from '../session-options.ts';
import { type ClassifiedUse, classifyUse, type ToolUse } from './tool-use.ts';

/** Facts about a use that are not in its request. */
export interface ApprovalFacts {
  /** Name of the back end that confines commands; absent where nothing does. */
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
  if (use.isOutside) return outside(policy);
  if (kind === 'command' && facts.sandbox === undefined) return unconfined(policy);
  if (policy === 'allow-all') return go('every tool call is allowed in this session');
  if (kind === 'reading') return go(why);
  switch (policy) {
    case 'never':
      return neverAsked(judged);
    case 'on-failure':
      if (facts.heldBack !== undefined) return ask(deniedWords(facts.heldBack), false, true);
      return isUnconfined(judged) ? ask(why) : go(confined(facts));
    case 'on-request':
      if (judged.class === 'dangerous' || isUnconfined(judged)) return ask(why);
      if (facts.leavesMachine) return ask('something of it goes to another machine');
      return go(kind === 'writing' ? 'the plan was approved' : confined(facts));
    case 'untrusted':
      return judged.class === 'safe' && !facts.leavesMachine ? go(why) : ask(why);
  }
}

function deniedWords(heldBack: string): string {
  return `the sandbox kept it from what it wanted, before: ${heldBack}`;
}

function confined({ sandbox = '' }: ApprovalFacts): string {
  return `the sandbox (${sandbox}) confines it`;
}

/** These tools run outside any sandbox: only rules and scope limit them. */
function isUnconfined({ kind }: ClassifiedUse): boolean {
  return kind === 'version-control' || kind === 'other';
}

function outside(policy: ApprovalPolicy): ApprovalVerdict {
  const why = 'it asks to be made outside the sandbox';
  return policy === 'never'
    ? refuse(`${why}, and the policy \`never\` prompts no one`)
    : ask(why, true, true);
}

function unconfined(policy: ApprovalPolicy): ApprovalVerdict {
  const why = 'nothing confines commands here: this machine has no sandbox that works';
  if (policy === 'allow-all') return go('every tool call is allowed in this session');
  return policy === 'never'
    ? refuse(`${why}, and the policy \`never\` prompts no one`)
    : ask(why, false, true);
}

function neverAsked(judged: ClassifiedUse): ApprovalVerdict {
  if (judged.class === 'dangerous' || isUnconfined(judged))
    return refuse(`${judged.why}, and the policy \`never\` prompts no one`);
  return go(judged.class === 'safe' ? judged.why : 'it is not known to be dangerous');
}

function go(why: string): ApprovalVerdict {
  return { verdict: 'go', why };
}

function ask(why: string, isFresh = false, isOfSandbox = false): ApprovalVerdict {
  return { verdict: 'ask', why, isFresh, isOfSandbox };
}

function refuse(why: string): ApprovalVerdict {
  return { verdict: 'refuse', why };
}
