import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import type { Corpus } from './corpus.ts';

/** The directory of the cases and of their goldens. */
export const transcripts = fileURLToPath(
  new URL('../../../fixtures/compatibility/transcripts/', import.meta.url),
);

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What a set-up and a case can put in place before a command line runs. Paths are relative to the place. */
export interface Preparation {
  /** Text of files by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** What is merged into the sample specification (`fixtures/runs/_sample.intent.json`), by the path of the new file. */
  readonly specs?: Readonly<Record<string, Json>>;
  /** Files and directories of this repository, by the path of the copy. */
  readonly copies?: Readonly<Record<string, string>>;
  /** Labelled cases of fixtures/scan, by the directory that their files come into. */
  readonly corpora?: Readonly<Record<string, Corpus>>;
  /** A folder of `fixtures/runs`: its specification and its change become `in/spec.json` and `in/change.diff`. */
  readonly run?: string;
  readonly steps?: readonly Step[];
}

/** One program that has to succeed. What it answers can be kept under a name, which `{NAME}` stands for later. */
export interface Step {
  /** A script for `sh`, run in the repository; `keep` takes its stdout. */
  readonly sh?: string;
  /** A command line of writ; `keep` takes these fields of its `--json` output. */
  readonly writ?: string;
  readonly keep?: string | Readonly<Record<string, string>>;
  /** Expected exit code; default 0. */
  readonly exit?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A state of a place that is made once and copied for each case. */
export interface SetUp extends Preparation {
  /** The set-up that this one begins with. */
  readonly from?: string;
  readonly needs?: readonly string[];
}

/** A process that runs beside the command lines, from its first output that matches `until`. */
export interface Beside {
  readonly writ?: string;
  readonly sh?: string;
  readonly until: string;
  /** What to keep of that output: the first group of `until`. */
  readonly keep?: string;
}

export interface Case extends Preparation {
  readonly group: string;
  /** A sentence, unique in its group. */
  readonly name: string;
  /** The set-up. */
  readonly place: string;
  /** Command lines of writ that run one after the other; words are separated by spaces or quoted. */
  readonly writ: readonly string[];
  /** Instead of them a script for `sh`, in which `writ` is the program: for what depends on a pipe or a directory. */
  readonly sh?: string;
  /** `true`: once for people and once with `--json`, each in a fresh place; `"only"`: with `--json`. */
  readonly json: boolean | 'only';
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Where the command lines run, relative to the place; default `repo`. */
  readonly cwd?: string;
  /** Files that the command lines write, whose text is recorded. */
  readonly outputs?: readonly string[];
  readonly beside?: Beside;
  /** The process is sent `signal` (default SIGTERM) once its output matches. */
  readonly until?: string;
  readonly signal?: 'SIGINT' | 'SIGTERM';
  /** Kinds of values that stay as they are, because the case is about them; see `Normaliser`. */
  readonly keep?: readonly string[];
  /** Fields of `--json` that are left out of the transcript, because another case has them: `data.ledger`. */
  readonly omit?: readonly string[];
  /** Texts of which each may be printed in place of another, because processes that run at once fail in any order. */
  readonly either?: readonly string[];
  /** What else the machine must have: `bubblewrap`, `ssh-keygen`. */
  readonly needs?: readonly string[];
  /** Part of `npm test`. */
  readonly sample?: boolean;
}

interface Group {
  readonly defaults?: Partial<Case>;
  readonly case?: readonly (Partial<Case> & { readonly writ?: string | readonly string[] })[];
}

const caseKeys = new Set<string>([
  ...[
    'name',
    'place',
    'writ',
    'sh',
    'json',
    'stdin',
    'env',
    'cwd',
    'outputs',
    'beside',
    'until',
    'signal',
    'keep',
  ],
  'omit',
  'either',
  ...['needs', 'sample', 'files', 'specs', 'copies', 'corpora', 'run', 'steps'],
]);

/** The set-ups by name. */
export function readSetUps(): Readonly<Record<string, SetUp>> {
  return parseFile('set-ups.toml') as Readonly<Record<string, SetUp>>;
}

/** Every case of every group, in the order of the files. Throws for a case without a name or with an unknown key. */
export function readCases(): readonly Case[] {
  return groupNames().flatMap((group) => {
    const { defaults = {}, case: cases = [] } = parseFile(`${group}.toml`) as Group;
    const names = new Set<string>();
    return cases.map((given) => {
      const one = { place: 'sample', json: true, ...defaults, ...given, group };
      const { name, sh, writ = sh === undefined ? undefined : [] } = one;
      const unknown = Object.keys(given).find((key) => !caseKeys.has(key));
      if (unknown !== undefined) throw new Error(`${group}: \`${name}\` has the unknown key \`${unknown}\``);
      if (name === undefined || writ === undefined)
        throw new Error(`${group}: \`${name ?? writ}\` needs a \`name\` and \`writ\` or \`sh\``);
      if (names.has(name)) throw new Error(`${group}: two cases are called \`${name}\``);
      names.add(name);
      return { ...one, name, writ: [writ].flat() } as Case;
    });
  });
}

/** Names of the groups: one file of cases each. */
export function groupNames(): readonly string[] {
  return globSync('*.toml', { cwd: transcripts })
    .map((path) => basename(path, '.toml'))
    .filter((name) => !['set-ups', 'uncovered'].includes(name))
    .sort();
}

/** What no case covers, by kind and name, and why. */
export function readUncovered(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return parseFile('uncovered.toml') as Readonly<Record<string, Readonly<Record<string, string>>>>;
}

function parseFile(name: string): unknown {
  try {
    return parse(readFileSync(join(transcripts, name), 'utf8'));
  } catch (fault) {
    throw new Error(`${name}: ${fault}`, { cause: fault });
  }
}
