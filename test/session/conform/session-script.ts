import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GivenAnswer } from '../../../session/state/interaction.ts';
import type { ApprovalPolicy, SessionContext } from '../../../session/state/settings.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import type { Json } from '../../engine/sample.ts';
import type { Asked } from '../../providers/model-server.ts';

/** What a client does, and what comes of it; `fixtures/sessions/README.md` says it in words. */
export type ScriptStep = {
  /** Who does it; `bot` where nobody is named. */
  readonly by?: string;
  /** Code that it is refused with; absent: it is accepted. */
  readonly refused?: string;
  /** What holds then; waited for by its status. */
  readonly then?: { readonly [name: string]: Json };
} & (
  | { readonly attach: string; readonly kind?: 'browser' | 'automation' }
  | { readonly detach: string }
  | { readonly say: string; readonly commandId?: string }
  /** The last question of that kind; `isOver`: the last one that waits for nobody. */
  | { readonly answer: string; readonly given: GivenAnswer; readonly isOver?: boolean }
  | { readonly cancel: true }
  | { readonly goal: string; readonly criteria?: readonly string[] }
  /** The goal, with what is said of it. */
  | { readonly giveUp: string }
  | { readonly change: string; readonly to: string }
);

/** A reply, or the name of one; `until`: repeated up to the first question that holds these words. */
type ModelEntry = string | ScriptedReply | { readonly repeats: string; readonly until: string };

/** One behaviour of a session. */
export interface SessionScript {
  readonly context?: SessionContext;
  readonly policy?: ApprovalPolicy;
  readonly network?: 'allow' | 'deny';
  /** Tokens that one yes lets a goal use up. */
  readonly goalTokens?: number;
  /** In order; a name stands for a reply of `replies.json`. */
  readonly model: readonly ModelEntry[];
  /** Pauses below a minute are none: attempts and models that failed are tried again at once. */
  readonly isHasty?: boolean;
  readonly steps: readonly ScriptStep[];
  readonly ends?: {
    /** In the subject of the last commit. */
    readonly commit?: string;
    /** How often the model was asked. */
    readonly asked?: number;
    /** Words that it was asked with, sometime. */
    readonly heard?: readonly string[];
  };
}

const directory = fileURLToPath(new URL('../../../fixtures/sessions/', import.meta.url));

/** Every behaviour by the name of its folder. */
export function readScripts(): Readonly<Record<string, SessionScript>> {
  const names = readdirSync(directory, { withFileTypes: true }).filter((one) => one.isDirectory());
  return Object.fromEntries(names.map(({ name }) => [name, readJson<SessionScript>(name, 'session.json')]));
}

/** What the model of a behaviour answers to each question; after its last reply it says that there is none. */
export function modelOf({ model }: Pick<SessionScript, 'model'>): (asked: Asked) => ScriptedReply {
  const known = readJson<Readonly<Record<string, ScriptedReply>>>('replies.json');
  const named = (name: string): ScriptedReply => {
    const reply = known[name];
    if (reply === undefined) throw new Error(`no reply is called \`${name}\``);
    return reply;
  };
  const entries = model.map((one) => {
    if (typeof one === 'string') return { reply: named(one) };
    return 'repeats' in one ? { reply: named(one.repeats), until: one.until } : { reply: one };
  });
  return ({ body }) => {
    const asked = JSON.stringify(body);
    while (entries[0]?.until !== undefined && asked.includes(entries[0].until)) entries.shift();
    const [first] = entries;
    if (first?.until === undefined) entries.shift();
    return first?.reply ?? { text: 'The script is over.' };
  };
}

function readJson<Value>(...path: readonly string[]): Value {
  return JSON.parse(readFileSync(join(directory, ...path), 'utf8')) as Value;
}
