import { codeActions } from '../../core/interfaces/worker.ts';
import { type ClassifiedCommand, classifyCommand, type UseClass } from './classify-command.ts';
import type { Danger } from './danger.ts';
import { isCommand, type ToolUse } from './tool-use.ts';

/** What kind of thing a use is, as far as asking goes. */
type UseKind = 'command' | 'reading' | 'writing' | 'web' | 'version-control' | 'other';

/** A use as it is judged: before rules of a policy, and with nothing of the world. */
export interface ClassifiedUse extends Danger {
  readonly kind: UseKind;
  readonly class: UseClass;
  /** Of a command. */
  readonly command?: ClassifiedCommand;
}

const reading: ReadonlySet<string> = new Set([
  'workspace.fs read',
  'workspace.search search',
  'vcs read',
  ...codeActions.map((action) => `workspace.lsp ${action}`),
]);
const writing: ReadonlySet<string> = new Set(['workspace.fs write', 'workspace.fs delete']);

/** Judges a use by itself. A tool that is not known here is `other`: nobody knows what it does. Pure. */
export function classifyUse(use: Pick<ToolUse, 'request'>): ClassifiedUse {
  const { tool, action, command = '' } = use.request;
  if (isCommand(use)) {
    const judged = classifyCommand(command);
    return { kind: 'command', class: judged.class, rule: judged.rule, why: judged.why, command: judged };
  }
  const name = `${tool} ${action}`;
  if (reading.has(name)) return { kind: 'reading', class: 'safe', rule: 'reads', why: 'it only reads' };
  if (writing.has(name))
    return {
      kind: 'writing',
      class: 'unknown',
      rule: 'writes',
      why: 'it changes files in the scope of the plan',
    };
  if (tool === 'web.search')
    return { kind: 'web', class: 'unknown', rule: 'web', why: 'it asks another machine' };
  if (tool === 'vcs' && action === 'write')
    return {
      kind: 'version-control',
      class: 'unknown',
      rule: 'vcs-write',
      why: 'it changes what version control holds, outside any sandbox',
    };
  return { kind: 'other', class: 'unknown', rule: 'not-known', why: 'what that tool does is unknown here' };
}
