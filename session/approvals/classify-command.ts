import { namedPaths } from '../../engine/tool/acl/command-paths.ts';
import { commandsOf, partsOf, type ShellReading, type SimpleCommand } from '../../engine/tool/shell.ts';
import { type Danger, dangerOf, dangerOfWrites } from './danger.ts';
import { placeless, readPrograms } from './read-programs.ts';

/** What is known of a use before it is made. `unknown`: neither a proven read nor known to be dangerous. */
export type UseClass = 'safe' | 'unknown' | 'dangerous';

/** One simple command of a text, with its verdict and the rule that gave it. */
export interface Segment extends Danger {
  readonly command: SimpleCommand;
  readonly class: UseClass;
}

/** A shell text as it was read and judged, command by command. */
export interface ClassifiedCommand extends Danger {
  readonly class: UseClass;
  /** In the order of the text; those that could be read. */
  readonly segments: readonly Segment[];
  /** What cannot be told from the text. */
  readonly unproven: readonly string[];
  readonly reading: ShellReading;
}

/**
 * Reads and judges shell text. Safe is only what is proven to be: programs that read, by plain words, joined by
 * nothing but `|`, `&&`, `||` and `;`, on places in the workspace. A text that cannot be read is dangerous.
 */
export function classifyCommand(text: string): ClassifiedCommand {
  const reading = commandsOf(text);
  if (!reading.ok) {
    const why = `what it runs cannot be told: ${reading.reason}`;
    const { commands, gaps } = partsOf(text, reading.reason);
    const segments = commands.map(judgePart);
    return { class: 'dangerous', rule: 'unproven', why, segments, unproven: gaps, reading };
  }
  const { commands, variables } = reading;
  if (commands.length === 0) {
    const why = 'it names no program';
    return { class: 'dangerous', rule: 'unproven', why, segments: [], unproven: [why], reading };
  }
  const segments = commands.map(judgeSegment);
  const unproven = [
    ...variables.map((name) => `the value of \`$${name}\``),
    ...segments.flatMap((one) => (one.class === 'unknown' ? [one.why] : [])),
  ];
  const judged = { segments, unproven: [...new Set(unproven)], reading };
  const danger = segments.find((one) => one.class === 'dangerous') ?? dangerOfWrites(reading);
  if (danger !== undefined) return { ...judged, class: 'dangerous', rule: danger.rule, why: danger.why };
  const other = segments.find((one) => one.class === 'unknown');
  if (other !== undefined) return { ...judged, class: 'unknown', rule: other.rule, why: other.why };
  if (!isPlain(text, commands)) {
    const why = 'it is more than plain words joined by `|`, `&&`, `||` and `;`';
    return { ...judged, unproven: [...judged.unproven, why], class: 'unknown', rule: 'not-plain', why };
  }
  return { ...judged, class: 'safe', rule: 'only-reads', why: 'each of its commands is proven to read only' };
}

function judgeSegment(command: SimpleCommand): Segment {
  const danger = dangerOf(command);
  if (danger !== undefined) return { ...danger, command, class: 'dangerous' };
  const unknown = obstacleToReading(command);
  if (unknown !== undefined) return { ...unknown, command, class: 'unknown' };
  const name = command.argv[0]?.literal ?? '';
  return { rule: 'only-reads', why: `\`${name}\` only reads, with these words`, command, class: 'safe' };
}

/** A command beside what nobody can read: none is safe there, a function may have taken its name. */
function judgePart(command: SimpleCommand): Segment {
  const judged = judgeSegment(command);
  if (judged.class !== 'safe') return judged;
  return { command, class: 'unknown', rule: 'beside-unread', why: `${judged.why}, if it is that program` };
}

/** Why a simple command is not proven to read only. */
function obstacleToReading(command: SimpleCommand): Danger | undefined {
  const { argv, assignments } = command;
  const [name = '', ...args] = argv.map(({ literal }) => literal ?? '');
  const reads = readPrograms.get(name);
  if (reads === undefined) return { rule: 'not-known', why: `what \`${name}\` does is not in its words` };
  if (assignments.length > 0) return { rule: 'assigns', why: `\`${name}\` is given variables` };
  if (argv.some(({ literal }) => literal === undefined))
    return { rule: 'expands', why: `a word of \`${name}\` is known only when it runs` };
  if (!reads(args)) return { rule: 'options', why: `\`${name}\` is not known to read only with these words` };
  if (placeless.has(name)) return undefined;
  const named = namedPaths({ ok: true, commands: [command], variables: [], redirects: [] });
  return named.every(({ kind }) => kind === 'workspace')
    ? undefined
    : { rule: 'elsewhere', why: `\`${name}\` names a place that is not in the workspace` };
}

const between = /^[ \t]*(?:\|\||&&|\||;)[ \t]*/;

/** Whether the text is these commands' words, as they are written, and nothing else but what joins them. */
function isPlain(text: string, commands: readonly SimpleCommand[]): boolean {
  let rest = text.trim();
  for (const [index, { argv }] of commands.entries()) {
    if (index > 0) {
      const joint = between.exec(rest)?.[0];
      if (joint === undefined) return false;
      rest = rest.slice(joint.length);
    }
    for (const [at, word] of argv.entries()) {
      if (at > 0) {
        const blank = /^[ \t]+/.exec(rest)?.[0];
        if (blank === undefined) return false;
        rest = rest.slice(blank.length);
      }
      if (word.text === '' || !rest.startsWith(word.text)) return false;
      rest = rest.slice(word.text.length);
    }
  }
  return rest === '';
}
