import type { ApprovalPolicy } from '../options/session-options.ts';
import { type ClassifiedUse, classifyUse } from './classify-use.ts';
import type { ToolUse } from './tool-use.ts';

/** What the world says about a use. */
export interface ApprovalFacts {
  /** Name of the back end that confines commands; absent where nothing does. */
  readonly sandbox?: string;
  /** What the sandbox kept this same use from, before; absent: nothing that anybody knows of. */
  readonly heldBack?: string;
  /** Something of it goes to another machine, and no answer of a person has opened that way before. */
  readonly leavesMachine: boolean;
}

/** Whether a person is asked. */
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
 * Judges a use that rules and scope let through (document 2, Approval policies; resolutions, Who judges a tool call).
 * Pure, and never by silence: what it does not know is asked about, or refused where nobody is asked.
 */
export function judgeApproval(policy: ApprovalPolicy, use: ToolUse, facts: ApprovalFacts): ApprovalVerdict {
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

/** No sandbox stands around these tools: what they may do, rules and scope say alone. */
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
