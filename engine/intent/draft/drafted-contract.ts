/* Builds a complete spec from a model's draft and the profile of its risk. */
import { compileGlob, normalisePattern } from '../../../core/base/glob.ts';
import { quoted } from '../../../core/base/printable.ts';
import type { ChangeType, IntentSpec, RiskLevel, ToolRule } from '../../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../../core/interfaces/patch-set.ts';
import { applyDefaults } from '../../../spec/document-schema.ts';
import { workerRights } from '../../../spec/facts.ts';
import { type DraftRequest, draftFromProfile, higherRisk } from '../../../spec/profile.ts';
import { findSecurityWord } from '../../../spec/secret-words.ts';
import { type CheckedWish, tighten } from '../../../spec/stricter.ts';
import { documentation, goes } from '../../../spec/tests-may-go.ts';
import type { WritConfig } from '../../config/config.ts';
import type { IntentDraft } from './intent-draft.ts';

/** The requester, the target and the request; the model is added when the draft is done. */
export interface DraftFrame
  extends Pick<DraftRequest, 'id' | 'createdAt' | 'createdBy' | 'repo' | 'baseRef'> {
  /** The person's messages, in order. */
  readonly said: readonly string[];
}

/** A spec built from a draft, and the changes that were made to the draft. */
interface DraftedContract {
  readonly document: IntentSpec;
  /** What was made stricter, one sentence each. */
  readonly repairs: readonly string[];
  /** What a person has to agree to: wider than what profile and policy commit give. */
  readonly questions: readonly string[];
}

/**
 * A plain command: words without anything that a shell would expand, quote, join or redirect, but for the place of a
 * report (`--junitxml="$REPORTS_DIR/pytest.xml"`): some runners print none.
 */
const plainCommand =
  /^(?:\.\/?)?[A-Za-z0-9_][A-Za-z0-9_.:@%+/=,-]*(?: (?:[A-Za-z0-9_.:@%+/=,-]+|(?:--[a-z][a-z-]*=)?"\$REPORTS_DIR\/[A-Za-z0-9_.-]+"))*$/;
/** A program by an absolute path, or one with `./` or `../`, which no command may have. */
const dotPath = /^\.{0,2}\/[A-Za-z0-9_.@+/-]+(?= |$)/;
const reportWord = / (?:--[a-z][a-z-]*=)?"\$REPORTS_DIR\//;

const maxQuestions = 20;

/** What is made stricter of every draft. */
export const alwaysStricter = '`.writ/` is out of scope';

/**
 * Builds the spec of a draft from its text, checks and risk. Policy comes from the profile of its risk, and is
 * stricter if the draft requests it. The risk is at least that of the paths it touches. Returns faults if the draft
 * is invalid. Pure.
 */
export function draftedContract(
  draft: IntentDraft,
  frame: DraftFrame,
  config: Pick<WritConfig, 'securityCode' | 'checks' | 'drafts'>,
): DraftedContract | { readonly faults: readonly string[] } {
  const { summary, changeType, risk } = draft;
  const faults = checkFaults(draft);
  if (faults.length > 0) return { faults };
  const { said, ...target } = frame;
  const floor = riskFloor(said.join('\n'), draft, config);
  const level = higherRisk(risk.level, floor.level);
  const base = draftFromProfile({ ...target, risk: level, summary, changeType });
  const granted = allowedCommands(base);
  const further = draft.checks.filter(({ command }) => !granted.some((entry) => begins(command, entry)));
  // A command that the policy commit runs for every change needs no question.
  const known = config.checks.always.map(({ check }) => check.command ?? '');
  const asked = further.filter(({ command }) => !known.some((entry) => begins(command, entry)));
  const worded = withWords(base, draft, level, [
    ...workerRights,
    ...base.security.toolAcl.allow,
    ...commandRights(further.map(({ command }) => command.split(reportWord)[0] ?? command)),
  ]);
  const { document, judged } = tighten(worded, applyDefaults(worded), draft.policy);
  const raised = level === risk.level ? [] : [`risk is ${level}, not ${risk.level}: ${floor.why}`];
  return {
    document: withPeople(document),
    repairs: [...raised, alwaysStricter, ...judged.map(wishSentence)],
    questions: [
      ...asked.map(({ id, command }) => `may the check \`${id}\` run \`${command}\`?`),
      ...questionsOfTests(draft),
      ...draft.questions.slice(0, maxQuestions),
    ],
  };
}

function checkFaults({ checks }: IntentDraft): readonly string[] {
  return [
    ...(checks.some(({ stage }) => stage === 'fast')
      ? []
      : ['a change without a fast check is never committed: name at least one']),
    ...checks.flatMap(({ id, command }) => {
      const [path] = dotPath.exec(command) ?? [];
      if (path !== undefined)
        return [
          `the command of \`${id}\` starts the path \`${path}\`: expected a program's bare name, or a program of a directory such as \`.venv/bin/python\`, without \`./\`; a script of the repository needs its interpreter (\`sh gradlew test\`)`,
        ];
      return plainCommand.test(command)
        ? []
        : [
            `the command of \`${id}\` is no plain command: expected words without quotes, pipes or variables, or a report at \`"$REPORTS_DIR/NAME"\``,
          ];
    }),
  ];
}

function withWords(
  base: IntentSpec,
  draft: IntentDraft,
  level: IntentSpec['risk']['level'],
  allow: readonly ToolRule[],
): IntentSpec {
  const log = draft.checks.findIndex(({ stage, kind }) => stage === 'fast' && kind === 'testSuite');
  const logged = log >= 0 ? log : draft.checks.findIndex(({ stage }) => stage === 'fast');
  const checks = draft.checks.map(({ id, stage, kind, command }, index) => ({
    stage,
    check: {
      id,
      kind,
      command,
      timeoutSeconds: stage === 'fast' ? 300 : 1800,
      required: true,
      ...(index === logged ? { artifactsProduced: ['test-log'] } : {}),
    },
  }));
  const of = (wanted: string) => checks.filter(({ stage }) => stage === wanted).map(({ check }) => check);
  const { files, symbols } = draft;
  return {
    ...base,
    intent: {
      ...base.intent,
      problemStatement: draft.problemStatement,
      objectives: [...draft.objectives],
      inScope: [...draft.inScope],
      outOfScope: [...draft.outOfScope, '.writ/'],
      touchHints: { files, symbols },
    },
    acceptance: {
      ...base.acceptance,
      successCriteria: draft.successCriteria,
      verificationPlan: {
        ...base.acceptance.verificationPlan,
        fastChecks: of('fast'),
        integrationChecks: of('integration'),
      },
    },
    risk: { ...base.risk, level, rationale: draft.risk.rationale, factors: draft.risk.factors },
    security: { ...base.security, toolAcl: { allow } },
    // A model is not a service to be spared: its turns have waits of their own.
    execution: { ...base.execution, retry: { ...base.execution.retry, backoffSeconds: 1 } },
  };
}

/** Required approvals also require `humanInLoop`. */
function withPeople(document: IntentSpec): IntentSpec {
  const { required, minApprovers } = document.risk.humanInLoop;
  const least = Math.max(minApprovers, required ? 1 : 0);
  return {
    ...document,
    risk: { ...document.risk, humanInLoop: { required: least > 0, minApprovers: least } },
  };
}

function allowedCommands({ security }: IntentSpec): readonly string[] {
  return security.toolAcl.allow.flatMap(({ constraints = {} }) => {
    const { allowCommands } = constraints as { readonly allowCommands?: unknown };
    return Array.isArray(allowCommands) ? allowCommands.map(String) : [];
  });
}

function commandRights(commands: readonly string[]): readonly ToolRule[] {
  if (commands.length === 0) return [];
  const allowCommands = [...new Set(commands)];
  return [{ tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands } }];
}

/** Returns whether a command equals an entry or starts with its words. */
function begins(command: string, entry: string): boolean {
  return entry !== '' && (command === entry || command.startsWith(`${entry} `));
}

function wishSentence({ field, asked, given, granted }: CheckedWish): string {
  const [wanted, stays] = [asked, given].map((value) => JSON.stringify(value) ?? 'nothing');
  return granted
    ? `\`${field}\` is ${wanted}, stricter than ${stays}`
    : `\`${field}\` stays ${stays}: ${wanted?.slice(0, 100)} was asked for and is not stricter`;
}

/**
 * Questions for a person if a draft's text would allow tests to be removed: an objective that mentions removal, or
 * `docs` with paths outside documentation.
 */
function questionsOfTests({
  objectives,
  changeType,
  inScope,
  files,
}: Pick<IntentDraft, 'objectives' | 'changeType' | 'inScope' | 'files'>): readonly string[] {
  const wide = changeType === 'docs' ? [...inScope, ...files].filter((place) => !isDocumentation(place)) : [];
  return [
    ...objectives
      .filter((objective) => goes.test(objective))
      .map((objective) => `may tests go that this names: ${objective.slice(0, 200)}?`),
    ...(wide.length === 0
      ? []
      : [
          `may tests go, as a change of \`docs\` lets them, in ${wide.slice(0, 5).join(', ').slice(0, 200)}?`,
        ]),
  ];
}

/** A directory of documentation, or a file of it. */
function isDocumentation(place: string): boolean {
  return documentation.test(place.endsWith('/') ? place : `${place}/`) || documentation.test(place);
}

/** The minimum risk of each kind of change. */
const leastOf: Readonly<Record<ChangeType, RiskLevel>> = {
  docs: 'low',
  chore: 'low',
  bugfix: 'low',
  feature: 'medium',
  refactor: 'medium',
  performance: 'medium',
  unknown: 'medium',
  security: 'high',
};

/** A level, and why it is not lower. */
interface RiskFloor {
  readonly level: RiskLevel;
  readonly why: string;
}

/**
 * Returns the minimum level of a draft, whatever it states. It depends on the kind of change, or on `[drafts]` at the
 * policy commit. Text or paths that match `[security_code]` there raise it. Pure.
 */
function riskFloor(
  request: string,
  draft: Pick<IntentDraft, 'changeType' | 'summary' | 'objectives' | 'inScope' | 'files' | 'symbols'>,
  { securityCode, drafts }: Pick<WritConfig, 'securityCode' | 'drafts'>,
): RiskFloor {
  const { changeType, summary, objectives, inScope, files, symbols } = draft;
  const globs = securityCode.paths.map((pattern) => compileGlob(pattern));
  const places = [...inScope, ...files];
  const place = places.find((path) => globs.some((glob) => glob.matches(path)));
  if (place !== undefined) return { level: 'high', why: `\`${place}\` is security code` };
  for (const text of [request, summary, ...objectives, ...places, ...symbols]) {
    const found = findSecurityWord(text, securityCode.words);
    if (found !== undefined) return { level: 'high', why: `\`${found}\` speaks of security code` };
  }
  if (drafts.leastRisk !== undefined && changeType !== 'security')
    return { level: drafts.leastRisk, why: '`[drafts] least_risk` of the policy commit' };
  const other =
    changeType === 'security' ? '' : '; `[drafts] least_risk` in `.writ/config.toml` can lower it';
  return { level: leastOf[changeType], why: `the least for \`${changeType}\`${other}` };
}

/** Directories that no drafted spec may open: the git directory, and the files that govern writ. */
const closed = ['.git', '.writ'];

/**
 * Returns faults of a draft's paths: outside the repository, in a closed directory, or the whole repository at once.
 */
export function placeFaults(
  { inScope, files }: Pick<IntentDraft, 'inScope' | 'files'>,
  scope: Scope,
): readonly string[] {
  const faults: string[] = [];
  const words = [...files, ...inScope.flatMap((entry) => entry.split(/\s+/u))].map(bare);
  for (const word of words) if (leadsOut(word)) faults.push(`${quoted(word)} is no place in the repository`);
  for (const file of files)
    if (normalisePattern(file.trim()) === undefined) faults.push(`${quoted(file)} is no path or glob`);
  if (scope.wholeRepository)
    faults.push('`inScope` names no path: name the files or directories that may change');
  for (const pattern of scope.write) {
    const [first = ''] = pattern.split('/');
    if (closed.includes(first.toLowerCase())) faults.push(`${quoted(pattern)} is not for a draft to open`);
    if (first === '**' || pattern === '*' || pattern === '*/' || first.startsWith('{'))
      faults.push(`${quoted(pattern)} is everything: name the directories that may change`);
  }
  return [...new Set(faults)];
}

function bare(word: string): string {
  return word.replace(/^[`'"(<]+/u, '').replace(/[`'">),;]+$/u, '');
}

/** Absolute, of a home, or above the repository. A slash alone is a word of prose. */
function leadsOut(word: string): boolean {
  return /^(?:\/.|~\/|[A-Za-z]:\\)/u.test(word) || /(?:^|[\\/])\.\.(?:[\\/]|$)/u.test(word);
}
