/* Builds a spec from the words of a person and the profile of its risk. */
import type {
  ChangeType,
  Check,
  IntentSpec,
  ToolRule,
  TouchHints,
} from '../../core/interfaces/intentspec.gen.ts';
import { type DraftRequest, draftFromProfile } from '../../spec/profile.ts';
import { type ProposedCheck, startsKnownRunner } from '../../spec/propose-check.ts';
import { prosePaths } from '../../spec/secret-words.ts';
import { commandsOf, type SimpleCommand } from '../../workspace/shell/shell.ts';

/** What a person decides about a change. The profile of its risk supplies the rest. */
export interface SpecWords extends Omit<DraftRequest, 'summary' | 'test'> {
  /** The first line is the summary. */
  readonly message: string;
  readonly inScope: readonly string[];
  readonly touchHints?: TouchHints;
  /** Why this risk, in a sentence. */
  readonly why: string;
  readonly checks: readonly WordedCheck[];
  /** Of each check; default 900. */
  readonly timeoutSeconds?: number;
}

/** A command, and what lets it run if that is not the command itself. */
export type WordedCheck = Pick<ProposedCheck, 'kind' | 'command'> & Partial<Pick<ProposedCheck, 'allowed'>>;

/** A suite needs a report; without one the tests of a known runner are compared by what it prints. */
export function toCheck(command: string): WordedCheck {
  const hasReport = /--test-reporter[= ](?:tap|junit)|--junit-?xml/.test(command);
  return { kind: hasReport && startsKnownRunner(command) ? 'testSuite' : 'command', command };
}

/** An active spec: the person whose words it has is its author. Pure. */
export function specFromWords({
  message,
  inScope,
  touchHints,
  why,
  checks,
  timeoutSeconds = 900,
  ...given
}: SpecWords): IntentSpec {
  const subject = summaryOf(message);
  // The subject of a commit may be as short as `wip`; a summary has 5 to 256 characters.
  const summary = subject.length < 5 ? `Change: ${subject}` : subject.slice(0, 256).toWellFormed();
  const draft = draftFromProfile({ ...given, summary });
  const { intent, acceptance, risk, security, lifecycle } = draft;
  return {
    ...draft,
    intent: {
      ...intent,
      problemStatement: message.length < 10 ? `The change: ${message}` : message.slice(0, 8000),
      objectives: [summary],
      inScope: [...inScope],
      ...(touchHints === undefined ? {} : { touchHints }),
    },
    acceptance: {
      ...acceptance,
      successCriteria: checks.map(({ command }) => `\`${command}\` passes on the change`),
      verificationPlan: {
        ...acceptance.verificationPlan,
        fastChecks: checks.map(({ kind, command }, at): Check => {
          return {
            id: checks.length === 1 ? 'unit' : `check-${at + 1}`,
            kind,
            command,
            timeoutSeconds,
            required: true,
            ...(at === 0 ? { artifactsProduced: ['test-log'] } : {}),
          };
        }),
      },
    },
    risk: { ...risk, rationale: why },
    security: { ...security, toolAcl: { allow: [commandRule(checks)] } },
    lifecycle: { ...lifecycle, status: 'active' },
  };
}

export function summaryOf(message: string): string {
  return (message.split('\n')[0] ?? '').trim();
}

/** The rule that lets exactly these commands run. */
function commandRule(checks: readonly WordedCheck[]): ToolRule {
  const entries = checks.flatMap(({ command, allowed }) => {
    if (allowed !== undefined) return [allowed];
    // A program may be given by its path, as in `.venv/bin/python`; whether it may run is for the run to check.
    const reading = commandsOf(command, { isProgram: () => true });
    // What cannot be read is refused by name when the run is opened.
    return reading.ok ? reading.commands.map(literalWords) : [command];
  });
  return {
    tool: 'workspace.command',
    actions: ['execute'],
    constraints: { allowCommands: [...new Set(entries)] },
  };
}

/** The words of a command up to the first that the shell expands. */
function literalWords({ argv }: SimpleCommand): string {
  const end = argv.findIndex(({ literal }) => literal === undefined);
  const known = end === -1 ? argv : argv.slice(0, end);
  return known.map(({ text }) => text).join(' ');
}

/** The kind of change that the type of a Conventional Commit names. */
const commitTypes: Readonly<Record<string, ChangeType>> = {
  fix: 'bugfix',
  feat: 'feature',
  refactor: 'refactor',
  perf: 'performance',
  security: 'security',
  docs: 'docs',
  chore: 'chore',
  build: 'chore',
  ci: 'chore',
  style: 'chore',
  test: 'chore',
};

/** The kind of change, by the first word of its summary. `paths`: what is changed, where that is known. */
export function changeTypeOf(summary: string, paths: readonly string[] = []): ChangeType {
  const [, type = ''] = /^([a-z]+)(?:\([^()]*\))?!?:/.exec(summary) ?? [];
  const found = Object.hasOwn(commitTypes, type) ? (commitTypes[type] ?? 'unknown') : 'unknown';
  // A correction of prose has no test that could show it.
  return found === 'bugfix' && paths.length > 0 && paths.every((path) => prosePaths.test(path))
    ? 'chore'
    : found;
}
