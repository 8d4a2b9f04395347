/* Reads the constraints of tool rules, and matches the entries of `allowCommands` and `denySubstrings`. */
import path from 'node:path';
import { compileGlob } from '../../core/base/glob.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveToolRule } from '../../core/interfaces/intentspec.gen.ts';
import { isToolConstraintKey, toolConstraintShapes } from '../../spec/checks-of.ts';
import { type SimpleCommand, wordsOf } from '../shell/shell.ts';

/** The constraints of one ToolRule, each with a usable value. An absent key does not constrain. */
export interface Constraints {
  readonly writeRoots?: readonly string[];
  readonly denyPaths?: readonly string[];
  readonly allowCommands?: readonly CommandEntry[];
  readonly denySubstrings?: readonly string[];
  readonly maxOutputBytes?: number;
  readonly maxWriteBytes?: number;
  readonly maxResultBytes?: number;
  readonly networkReason?: string;
  readonly networkHosts?: readonly string[];
}

/**
 * Parses the constraints of a rule. Returns `undefined` if a key is unknown or a value is unusable. Such an allow
 * rule allows no call, and such a deny rule denies every call that it names. `networkHosts` and `networkReason` must
 * be set together.
 */
function parseConstraints(given: Readonly<Record<string, unknown>>): Constraints | undefined {
  const read: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (!isToolConstraintKey(key) || !toolConstraintShapes[key].holds(value)) return undefined;
    read[key] = value;
  }
  if (Array.isArray(read.allowCommands)) read.allowCommands = read.allowCommands.map(readEntry);
  const constraints: Constraints = read;
  return (constraints.networkHosts === undefined) === (constraints.networkReason === undefined)
    ? constraints
    : undefined;
}

const parsed = new WeakMap<object, Constraints | undefined>();

/** Parses the constraints of a rule once, not once for each command. */
function readConstraints(given: Readonly<Record<string, unknown>>): Constraints | undefined {
  if (!parsed.has(given)) parsed.set(given, parseConstraints(given));
  return parsed.get(given);
}

/** A rule that names an invocation, with its constraints; `undefined` where they cannot be used. */
export interface MatchingRule {
  readonly index: number;
  readonly constraints: Constraints | undefined;
}

/** Allow rules name a tool and its actions exactly. */
export function allowRules(
  rules: readonly EffectiveToolRule[],
  tool: string,
  action: string,
): readonly MatchingRule[] {
  return select(rules, (rule) => rule.tool === tool && rule.actions.includes(action));
}

/** In deny rules, `*` and `prefix.*` are patterns, because a deny rule that matches no tool would protect no one. */
export function denyRules(
  rules: readonly EffectiveToolRule[],
  tool: string,
  action: string,
): readonly MatchingRule[] {
  return select(
    rules,
    (rule) => covers(rule.tool, tool) && rule.actions.some((given) => covers(given, action)),
  );
}

function select(
  rules: readonly EffectiveToolRule[],
  matches: (rule: EffectiveToolRule) => boolean,
): readonly MatchingRule[] {
  return rules.flatMap((rule, index) =>
    matches(rule) ? [{ index, constraints: readConstraints(rule.constraints) }] : [],
  );
}

function covers(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true;
  return pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1));
}

/** A denial as a finding of rule `acl`. */
export function refusal(message: string, detail: Readonly<Record<string, unknown>>): Finding {
  return { rule: 'acl', severity: 'error', message, detail };
}

/**
 * Returns whether a workspace-relative path is one of the roots or below one. `dir`, `dir/` and `dir/**` match the
 * subtree, `.` matches every path.
 */
export function isUnder(roots: readonly string[], relative: string): boolean {
  const above = ancestors(relative);
  return matchersOf(roots).some((matches) => above.some(matches));
}

type Matches = (path: string) => boolean;

/** Cached per list, because one list is checked against every entry of a directory. */
const known = new WeakMap<readonly string[], readonly Matches[]>();

function matchersOf(roots: readonly string[]): readonly Matches[] {
  const made = known.get(roots) ?? roots.map(matcherOf);
  known.set(roots, made);
  return made;
}

function matcherOf(root: string): Matches {
  const normal = normalRoot(root);
  if (normal === undefined) return () => false;
  if (normal === '.') return () => true;
  const glob = compileGlob(normal);
  return (path) => glob.matches(path);
}

/** Whether every root is one: relative, inside the workspace. */
export function areRoots(roots: readonly string[]): boolean {
  return roots.every((root) => normalRoot(root) !== undefined);
}

/** `undefined` for a root that is not inside the workspace. */
function normalRoot(root: string): string | undefined {
  const normal = path.posix.normalize(root.replace(/\/\*\*\/?$/, '/')).replace(/\/+$/, '');
  const escapes = path.posix.isAbsolute(root) || normal === '..' || normal.startsWith('../');
  return escapes ? undefined : normal === '**' || normal === '' ? '.' : normal;
}

/** The path and every directory above it, up to the workspace. */
function ancestors(relative: string): string[] {
  const parts = relative.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** One entry of `allowCommands`. */
interface CommandEntry {
  readonly text: string;
  /** Absent where the text is not one plain sequence of words. */
  readonly words?: readonly string[];
}

function readEntry(text: string): CommandEntry {
  const words = wordsOf(text);
  return words ? { text, words } : { text };
}

/**
 * Returns whether the words of an entry are the first words of a command after quote removal. An entry without words
 * never matches.
 */
export function entryMatches({ words }: CommandEntry, { argv }: SimpleCommand): boolean {
  return words?.every((word, index) => argv[index]?.literal === word) === true;
}

/** Returns whether an entry could match once the shell has expanded the command. Deny rules use this check. */
export function entryCouldMatch({ words }: CommandEntry, { argv }: SimpleCommand): boolean {
  if (words === undefined) return true;
  for (const [index, word] of words.entries()) {
    const given = argv[index];
    if (given === undefined) return false;
    // An expansion may become any number of words.
    if (given.literal === undefined) return !given.single || word.startsWith(given.head);
    if (given.literal !== word) return false;
  }
  return true;
}
