/* Authorizes shell commands under the tool rules, and warns of check commands that the rules would deny. */
import { quoted } from '../../core/base/printable.ts';
import { type Finding, type Issue, warning } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec, EffectiveToolAcl } from '../../core/interfaces/intentspec.gen.ts';
import { checksOf } from '../../spec/checks-of.ts';
import type { EgressPolicy } from '../egress/openings.ts';
import { sandboxVariables, schedulerVariables } from '../process/find-program.ts';
import { commandsOf, type ShellReading, type SimpleCommand } from '../shell/shell.ts';
import { type CommandPath, mayBeProgram, namedPaths, writtenPaths } from './command-paths.ts';
import {
  allowRules,
  areRoots,
  type Constraints,
  denyRules,
  entryCouldMatch,
  entryMatches,
  isUnder,
  type MatchingRule,
  refusal,
} from './constraints.ts';

/**
 * Returns a warning for each check command that the ACL would deny at run time. In a `policy` check, `command` is a
 * shell command only if its first word is not a registered rule.
 */
export function commandProblems(
  spec: EffectiveIntentSpec,
  registeredRules: readonly string[],
): readonly Issue[] {
  return checksOf(spec).flatMap(({ path, check: { command, kind } }) => {
    if (!command?.trim()) return [];
    const [word = ''] = command.trim().split(/[\s|&;<>()$`]/, 1);
    if (kind === 'policy' && registeredRules.includes(word.replaceAll(/['"]/g, ''))) return [];
    const variables = [...schedulerVariables, ...mayBeSecrets(spec, command)];
    const { refusal } = guardCommand(spec.security.toolAcl, command, { variables, isProgram: mayBeProgram });
    if (!refusal) return [];
    return [
      warning('SEMANTIC_CHECK_COMMAND_DENIED', `${path}/command`, `${refusal.message}; the check will fail`),
    ];
  });
}

/**
 * Returns the variable names in a command that may be secrets. The secrets that a scope grants are known only where
 * the spec runs.
 */
function mayBeSecrets({ security: { secrets } }: EffectiveIntentSpec, command: string): readonly string[] {
  if (secrets.policy === 'deny-all' || secrets.allowedScopes.length === 0) return [];
  return [...command.matchAll(/\$\{?([A-Za-z_][A-Za-z0-9_]{0,127})/g)].map(([, name = '']) => name);
}

export { mayBeProgram, programsIn } from './command-paths.ts';
export { guardTool, shownPaths, type ToolInvocation, type ToolVerdict } from './guard-tool.ts';

type ReadText = Extract<ShellReading, { readonly ok: true }>;

export interface CommandVerdict {
  readonly refusal?: Finding;
  /** The smallest `maxOutputBytes` or `maxResultBytes` of the rules that allowed it. */
  readonly maxOutputBytes?: number;
  /**
   * The smallest `maxWriteBytes` of the rules that allowed the command. It limits the size of each file, because
   * single writes are not observed.
   */
  readonly maxWriteBytes?: number;
  /** Of each rule that allowed it and has any. */
  readonly writeRoots?: readonly (readonly string[])[];
  /**
   * For each simple command, the network openings of its matching allow rules, without repeats. Absent if any simple
   * command has none.
   */
  readonly openings?: EgressPolicy['openings'];
}

/**
 * Authorizes shell text as a `workspace.command` `execute` call. Deny rules are evaluated first, and each constraint
 * of a deny rule denies by itself. Then every simple command needs an allow rule. Text that the grammar cannot prove
 * and variables that are not set are refused.
 *
 * `writeRoots` and `denyPaths` apply to redirections and literal arguments. The sandbox confines the programs
 * themselves.
 */
export function guardCommand(
  toolAcl: EffectiveToolAcl,
  command: string,
  options: {
    readonly variables: readonly string[];
    /** Programs that may be named by their path; default none. */
    readonly isProgram?: (path: string) => boolean;
    /** Programs that are refused even if a rule allows them, and the alternative to name in the message. */
    readonly withheld?: { readonly isWithheld: (name: string) => boolean; readonly instead: string };
  },
): CommandVerdict {
  const reading = commandsOf(command, options);
  if (!reading.ok) {
    return {
      refusal: refusal(`the command ${quoted(command)} is denied: ${reading.reason}`, { reason: 'unproven' }),
    };
  }
  const known = new Set([...options.variables, ...sandboxVariables]);
  const unknown = reading.variables.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const names = unknown
      .slice(0, 5)
      .map((name) => quoted(`$${name}`))
      .join(', ');
    return {
      refusal: refusal(
        `${names} is neither in the Scheduler's map nor assigned in the command; expected one of ${[...known].join(', ')}`,
        { reason: 'variable', variables: unknown.slice(0, 5) },
      ),
    };
  }
  if (reading.commands.length === 0) {
    return { refusal: refusal('expected a program to run, found none', { reason: 'empty' }) };
  }
  const { isWithheld = () => false, instead = '' } = options.withheld ?? {};
  const program = reading.commands.map(({ argv }) => baseName(argv[0]?.literal ?? '')).find(isWithheld);
  if (program !== undefined) {
    const message = `${quoted(program)} is not to be had as a command; ${instead}`;
    return { refusal: refusal(message, { reason: 'withheld', program }) };
  }
  for (const rule of denyRules(toolAcl.deny, 'workspace.command', 'execute')) {
    const why = deniedBy(rule.constraints, command, reading);
    if (why !== undefined) {
      return {
        refusal: refusal(`deny rule ${rule.index} refuses it: ${why}`, {
          reason: 'denied',
          denyRule: rule.index,
        }),
      };
    }
  }
  return allow(allowRules(toolAcl.allow, 'workspace.command', 'execute'), command, reading);
}

function allow(rules: readonly MatchingRule[], text: string, reading: ReadText): CommandVerdict {
  const used = new Set<Constraints>();
  const openings: EgressPolicy['openings'][number][] = [];
  let obstacle = 'no allow rule names `workspace.command` with the action `execute`';
  const usable = rules.flatMap(({ index, constraints }) => {
    const why = constraints
      ? obstacleIn(constraints, text, reading)
      : 'it has a constraint that is unknown or unusable';
    if (why !== undefined) obstacle = `allow rule ${index} does not apply: ${why}`;
    return constraints && why === undefined ? [constraints] : [];
  });
  for (const command of reading.commands) {
    const matching = usable.filter(
      ({ allowCommands }) => !allowCommands || allowCommands.some((e) => entryMatches(e, command)),
    );
    const [rule] = matching;
    if (rule === undefined) {
      const words = command.argv.map((word) => word.literal ?? word.text);
      const why = usable.length > 0 ? 'no `allowCommands` entry is a prefix of it' : obstacle;
      return {
        refusal: refusal(`${quoted(words.join(' '))} is not allowed: ${why}`, {
          reason: 'not-allowed',
          command: quoted(words.join(' ')),
        }),
      };
    }
    used.add(rule);
    openings.push(
      matching.flatMap(({ networkHosts: hosts, networkReason: reason }) =>
        hosts && reason ? [{ hosts, reason }] : [],
      ),
    );
  }
  const all = [...used];
  const output = all.flatMap(({ maxOutputBytes = [], maxResultBytes = [] }) =>
    [maxOutputBytes, maxResultBytes].flat(),
  );
  const writes = all.flatMap(({ maxWriteBytes }) => maxWriteBytes ?? []);
  const roots = all.flatMap(({ writeRoots }) => (writeRoots ? [writeRoots] : []));
  return {
    ...(output.length > 0 ? { maxOutputBytes: Math.min(...output) } : {}),
    ...(writes.length > 0 ? { maxWriteBytes: Math.min(...writes) } : {}),
    ...(roots.length > 0 ? { writeRoots: roots } : {}),
    // What one command may not reach, no command beside it may: they share a network.
    ...(openings.every((opened) => opened.length > 0) ? { openings: distinct(openings) } : {}),
  };
}

function distinct<T>(items: readonly T[]): readonly T[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

/** Why an allow rule does not apply to the text as a whole. */
function obstacleIn(constraints: Constraints, text: string, reading: ReadText): string | undefined {
  const { denySubstrings, writeRoots, denyPaths } = constraints;
  const substring = substringIn(denySubstrings ?? [], text, reading.commands);
  if (substring !== undefined) return `it contains ${quoted(substring)}`;
  if (writeRoots) {
    if (!areRoots(writeRoots)) return 'its `writeRoots` leave the workspace';
    const isInside = (at: CommandPath) =>
      at.kind === 'scratch' || (at.kind === 'workspace' && isUnder(writeRoots, at.relative));
    if (!writtenPaths(reading).every(isInside))
      return 'a redirection is not proven to stay inside `writeRoots`';
  }
  if (denyPaths && pathIn(denyPaths, namedPaths(reading))) return 'it names something inside `denyPaths`';
  return undefined;
}

/** Returns why a deny rule denies the text. A constraint that cannot be evaluated on a command denies. */
function deniedBy(constraints: Constraints | undefined, text: string, reading: ReadText): string | undefined {
  if (constraints === undefined) return 'it has a constraint that is unknown or unusable';
  const { allowCommands, denySubstrings, writeRoots, denyPaths, ...others } = constraints;
  const [other] = Object.keys(others);
  if (other !== undefined) return `\`${other}\` cannot be authorized before a command runs`;
  if (Object.keys(constraints).length === 0) return 'it denies every command';
  const entry = allowCommands?.find((given) =>
    reading.commands.some(
      (command) => entryCouldMatch(given, command) || entryCouldMatch(given, byName(command)),
    ),
  );
  if (entry !== undefined) return `it runs ${quoted(entry.text)}`;
  const substring = substringIn(denySubstrings ?? [], text, reading.commands);
  if (substring !== undefined) return `it contains ${quoted(substring)}`;
  const written = writtenPaths(reading);
  if (writeRoots && (written.some(({ kind }) => kind === 'unknown') || pathIn(writeRoots, written))) {
    return 'a redirection writes inside its `writeRoots`, or may';
  }
  return denyPaths && pathIn(denyPaths, namedPaths(reading))
    ? 'it names something inside its `denyPaths`'
    : undefined;
}

/** The command as if its program were named without its path: a rule that denies a name denies the path to it. */
function byName({ argv: [program, ...args], ...command }: SimpleCommand): SimpleCommand {
  const literal = program?.literal;
  if (program === undefined || literal === undefined) return { argv: args, ...command };
  const name = baseName(literal);
  return { ...command, argv: [{ ...program, text: name, head: name, literal: name }, ...args] };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function pathIn(roots: readonly string[], paths: readonly CommandPath[]): boolean {
  if (!areRoots(roots)) return true;
  return paths.some((at) => at.kind === 'workspace' && isUnder(roots, at.relative));
}

/** Searches the text as written and each command after quote removal, so that `r"m" -rf` is still `rm -rf`. */
function substringIn(
  needles: readonly string[],
  text: string,
  commands: readonly SimpleCommand[],
): string | undefined {
  const hay = [
    text,
    ...commands.map(({ argv }) => argv.map((word) => word.literal ?? word.text).join(' ')),
  ].map((s) => s.toLowerCase());
  return needles.find((needle) => hay.some((candidate) => candidate.includes(needle.toLowerCase())));
}
