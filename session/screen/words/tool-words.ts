import { toSpan } from './to-span.ts';

/** A use of a tool as people read it. */
export interface ToolWords {
  /** What was done: `read`, `search`, `$` for a command; of any other tool its name and what it did. */
  readonly verb: string;
  /** To what. */
  readonly what: string;
  /** What came of it, as far as that is worth a word: `exit code 1`, `12s`. */
  readonly came: string;
  /** It did not do what was wanted. */
  readonly isBad: boolean;
}

/** Tools whose actions say by themselves what is done. */
const verbs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'workspace.fs': { read: 'read', write: 'write', delete: 'delete', list: 'list' },
  'workspace.search': { search: 'search' },
  'workspace.command': { execute: '$' },
};
/** What takes less is told by nobody. */
const leastMs = 1000;

/** Reads what a session tells of a use: the action, what it is done to, and how it ended where it has. */
export function toolWords(toolName: string, told: string, status: string | undefined): ToolWords {
  const [, said = told, outcome, code, ms, why] =
    /^(.*) \((done|denied|failed)(?:, exit code (-?\d+))?, (\d+) ms\)(?:: (.*))?$/s.exec(told) ?? [];
  const [, action = '', rest = ''] = /^(\S+) ?(.*)$/s.exec(said) ?? [];
  const verb = Object.hasOwn(verbs, toolName) ? verbs[toolName]?.[action] : undefined;
  const came = [
    ...(outcome === 'denied' ? ['denied'] : []),
    ...(outcome === 'failed' && code === undefined ? ['failed'] : []),
    ...(code === undefined ? [] : [`exit code ${code}`]),
    ...(Number(ms ?? 0) < leastMs ? [] : [toSpan(Number(ms))]),
    ...(why === undefined ? [] : [why]),
  ];
  return {
    verb: verb ?? `${toolName} ${action}`.trim(),
    what: rest,
    came: came.join(', '),
    isBad: code !== undefined || status === 'failed',
  };
}
