/* The rule `judge-changed`. */
import { compileGlob } from '../../core/base/glob.ts';
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { JudgeReach, LaidPath, PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { type Configured, configuredProgram } from '../../readers/judges/config-files.ts';
import { toolTest } from '../../readers/judges/manifests.ts';
import { isAmongTests, isFixture } from '../../readers/judges/rules.ts';
import { directoryOf, placeTest } from '../../readers/judges/tree.ts';
import { isNewFile } from '../../readers/source/test-paths.ts';
import { evaluateApprovals, reviewStep } from '../approvals/judge-approvals.ts';
import { verificationInputs } from '../judge-changed/judging-parts.ts';

type Test = (directory: string) => boolean;

interface ReadyDirectories {
  /** Programs run in it. */
  readonly isRun: Test;
  /** Or in one below it, or something below it is reached. */
  readonly isPlace: Test;
  readonly isThere: Test;
}

/** Caches the directory lookups of a reach, because they run for each changed file. */
const ready = new WeakMap<JudgeReach, ReadyDirectories>();

function readyFor(reach: JudgeReach): ReadyDirectories {
  const known = ready.get(reach);
  if (known) return known;
  const { places = ['**'], directories = [], files } = reach;
  const isRun = placeTest(places);
  const above = new Set<string>();
  for (const one of [...places, ...files.map(({ path }) => path)])
    for (let slash = one.lastIndexOf('/'); slash > 0; slash = one.lastIndexOf('/', slash - 1))
      above.add(one.slice(0, slash));
  const all = new Set(directories);
  const made = {
    isRun,
    isPlace: (directory: string) => directory === '' || isRun(directory) || above.has(directory),
    isThere: (directory: string) => directory === '' || all.has(directory),
  };
  ready.set(reach, made);
  return made;
}

/** Whether checks read a file that counts only where a program runs: in that directory, or on the way to one. */
function isReadThere(reach: JudgeReach | undefined, path: string): boolean {
  if (reach === undefined) return true;
  const { isRun, isPlace } = readyFor(reach);
  const directory = configuredDirectory(path);
  return path.includes('__mocks__/') ? isRun(directory) : isPlace(directory);
}

/** Whether a file is new in a new directory: such a file cannot affect existing verification. */
function isOfNewDirectory(reach: JudgeReach | undefined, { path, changeType }: PatchFile): boolean {
  if (changeType !== 'add' || !path.includes('/')) return false;
  if (reach?.directories !== undefined)
    return isFixture(path) || !readyFor(reach).isThere(configuredDirectory(path));
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  return path.endsWith('/package.json') && !reach?.files.some((known) => known.path.startsWith(directory));
}

const javascript =
  /^(?:node|npm|npx|pnpm|pnpx|yarn|bun|bunx|deno|tsx|ts-node|jest|vitest|_?mocha|ava|tap|eslint|tsc|c8|nyc)$/;

/**
 * Returns the package that a tracked file under `node_modules` would replace. If packages are tracked anyway, only
 * those of programs that checks run count.
 */
function replaces(reach: JudgeReach | undefined, { path, changeType }: PatchFile): string | undefined {
  const [, directory = '', name = ''] = /^(.*?)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (name === '' || name === '.bin' || reach?.directories === undefined || isFixture(directory))
    return undefined;
  if (!reach.programs.some((program) => javascript.test(program))) return undefined;
  const { isThere } = readyFor(reach);
  if (isThere(`${directory}node_modules`)) return reach.programs.includes(name) ? name : undefined;
  return isThere(directory.slice(0, -1)) && changeType !== 'delete' ? name : undefined;
}

/** The directory for which a file counts: mocks count where their directory is. */
function configuredDirectory(path: string): string {
  return directoryOf(path).replace(/(?:^|\/)__mocks__$/, '');
}

const rule = 'judge-changed';
const maxFindings = 50;
const maxLaid = 500;
const maxParts = 10;
const maxLookups = 100_000;
const ofLint =
  /^(?:eslintConfig|eslintIgnore|prettier|stylelint|xo|standard|lints|tool\.(?:ruff|flake8|mypy|pyright|basedpyright|black|isort|pylint|bandit|pycodestyle|pydocstyle|ty)|flake8|mypy\b.*|isort|pylint.*|pycodestyle|pydocstyle)$/;

/** One changed verification input. */
interface ChangedJudge {
  readonly file: PatchFile;
  readonly role: string;
  readonly via: string;
  readonly checks: readonly string[];
  /** Of a manifest: what of it. */
  readonly parts: readonly string[];
  /** Paths to restore from the policy commit, or to remove, so that its version decides. */
  readonly lay: readonly LaidPath[];
}

/**
 * The authority that accepts a changed verification input: people who review it, a second run with the policy
 * commit's version, or none.
 */
type Reviewer = 'people' | 'policy' | 'nobody';

/**
 * Reports changed verification inputs: scripts, manifest scripts and the files they load, as reached from check
 * commands at the base, and configuration of the programs that run. New files are included.
 *
 * - Warning: a person approves the change anyway (`humanInLoop.required`, `require-approvers` or `judge-changed`
 *   in releaseChecks), or a run can also use the policy commit's version.
 * - Error: neither is possible, or the config sets `review = "required"`.
 *
 * As a policy check in releaseChecks, the rule waits for the approval.
 */
export const judge: RuleFunction = (input) => {
  const changed = input.patch.files.flatMap((file) => changedJudge(input, file) ?? []);
  const gaps = gapFindings(input);
  if (changed.length === 0) return gaps;
  const { spec, stage } = input;
  const reviewer = reviewerOf(input, changed.length);
  const isReviewed = reviewer === 'people';
  const severity: Severity = reviewer === 'nobody' ? 'error' : 'warning';
  const told = changed.slice(0, maxFindings).map((one) => toFinding(one, severity, reviewer));
  const left = changed.slice(maxFindings);
  const rest: readonly Finding[] =
    left.length > 0
      ? [
          {
            rule,
            severity,
            message: `${told.length} of ${changed.length} changed verification inputs are listed`,
            detail: {
              code: 'JUDGE_CHANGED',
              ...(reviewer === 'policy' ? { judgedBy: 'policy', lay: left.flatMap(({ lay }) => lay) } : {}),
            },
          },
        ]
      : [];
  if (!isReviewed || stage?.name !== 'release') return [...told, ...rest, ...gaps];
  const needed = Math.max(1, spec.risk.humanInLoop.minApprovers);
  const why = `${changed.length} ${changed.length === 1 ? 'change' : 'changes'} of what checks execute to verify`;
  return [...told, ...rest, ...gaps, ...evaluateApprovals(rule, input, { needed, why })];
};

/** Without manifests the rule parses no file. It looks up each changed file among the verification inputs. */
export const isLinear = ({ patch, files, judge: reach }: RuleInput): boolean => {
  const known = (reach?.files.length ?? 0) + Object.keys(reach?.absent ?? {}).length;
  return Object.keys(files).length === 0 && patch.files.length * known <= maxLookups;
};

function reviewerOf({ spec, stage, judge: reach, options }: RuleInput, count: number): Reviewer {
  if (spec.risk.humanInLoop.required || reviewStep(spec, [rule, 'require-approvers']) !== undefined)
    return 'people';
  const canRun = reach !== undefined && stage === undefined && count <= maxLaid;
  return canRun && options.review !== 'required' ? 'policy' : 'nobody';
}

function changedJudge(input: RuleInput, file: PatchFile): ChangedJudge | undefined {
  const { judge: reach } = input;
  const oldPath = isNewFile(file) ? undefined : (file.oldPath ?? file.path);
  const known = oldPath === undefined ? undefined : reach?.files.find(({ path }) => path === oldPath);
  if (known && known.role !== 'test') {
    const { role, via, checks } = known;
    const parts = role === 'manifest' ? changedParts(input, file) : [];
    if (role === 'manifest' && parts?.length === 0) return undefined;
    return { file, role, via, checks, parts: parts ?? [], lay: laidFor(input, file, parts ?? []) };
  }
  const via = file.changeType === 'delete' ? undefined : leadToNew(reach, file.path);
  if (via !== undefined) return whole(input, file, via);
  const installed = replaces(reach, file);
  return installed === undefined
    ? changedConfig(input, file, oldPath)
    : whole(input, file, `\`${installed}\``);
}

function whole(input: RuleInput, file: PatchFile, via: string): ChangedJudge {
  return { file, role: 'script', via, checks: [], parts: [], lay: laidFor(input, file, []) };
}

function changedConfig(
  input: RuleInput,
  file: PatchFile,
  oldPath: string | undefined,
): ChangedJudge | undefined {
  const { judge: reach } = input;
  const isNew = isOfNewDirectory(reach, file);
  const counts = (path: string): Configured | undefined => {
    const how = configuredProgram(path, reach?.programs);
    return how?.scope === 'place' && (isNew || !isReadThere(reach, path)) ? undefined : how;
  };
  const config = counts(file.path) ?? (oldPath === undefined ? undefined : counts(oldPath));
  if (config === undefined) return undefined;
  const parts = changedParts(input, file);
  // A new package may define its own tests; only its changed lint settings are reported.
  const told =
    isNew && config.scope === 'package' ? (parts ?? []).filter((part) => ofLint.test(part)) : parts;
  if (told?.length === 0) return undefined;
  const found = told ?? [];
  return {
    file,
    role: 'config',
    via: `\`${config.program}\``,
    checks: [],
    parts: found,
    lay: laidFor(input, file, found),
  };
}

/** The old path, and the new one if it would be a verification input. The product itself may use a moved script. */
function laidFor({ judge: reach }: RuleInput, file: PatchFile, parts: readonly string[]): LaidPath[] {
  const { path, oldPath = path } = file;
  const isNew = isNewFile(file);
  const judgesAnew =
    path !== oldPath &&
    (leadToNew(reach, path) !== undefined ||
      replaces(reach, file) !== undefined ||
      configuredProgram(path, reach?.programs) !== undefined);
  if (isNew) return [{ path }];
  const isByParts = /(?:^|\/)(?:package|composer)\.json$/.test(oldPath) && !parts.includes('all of it');
  return [
    { path: oldPath, ...(isByParts && parts.length > 0 ? { parts } : {}) },
    ...(judgesAnew ? [{ path }] : []),
  ];
}

/** What leads to a path that was not there: a name that wins over another one, a glob of an `include`. */
function leadToNew(reach: RuleInput['judge'], path: string): string | undefined {
  if (reach?.absent === undefined || reach.files.some((known) => known.path === path)) return undefined;
  const found = Object.entries(reach.absent).find(
    ([name]) => name === path || (/[*?]/.test(name) && compileGlob(name).matches(path)),
  );
  return found?.[1];
}

/** Names of the verification parts that differ; `undefined` if the whole file is one part. */
function changedParts(input: RuleInput, file: PatchFile): readonly string[] | undefined {
  const sides = input.files[file.path];
  const oldPath = file.oldPath ?? file.path;
  const scripts = scriptsOf(input, oldPath);
  const isAmongOthers = file.changeType === 'add' ? file.path.includes('/') : isAmongTests(file.path);
  const runs = toolTest(input.judge?.programs, judgingScripts(input.judge));
  const was = sides?.base && verificationInputs(oldPath, sides.base, scripts, isAmongOthers, runs);
  const is = sides?.candidate && verificationInputs(file.path, sides.candidate, scripts, isAmongOthers, runs);
  if (sides === undefined || (sides.base && !was) || (sides.candidate && !is)) return undefined;
  const names = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  return [...names].filter((name) => was?.get(name) !== is?.get(name));
}

function judgingScripts(reach: RuleInput['judge']): readonly string[] {
  return (reach?.files ?? []).flatMap(({ path, role }) => (role === 'script' ? [path] : []));
}

/**
 * Scripts that checks reach. A manifest that no check reaches has none; `undefined` (no reach known) selects the
 * usual ones.
 */
function scriptsOf({ judge: reach }: RuleInput, path: string): readonly string[] | undefined {
  if (reach === undefined) return undefined;
  return Object.hasOwn(reach.scripts, path) ? reach.scripts[path] : [];
}

function toFinding(
  { file, role, via, checks, parts, lay }: ChangedJudge,
  severity: Severity,
  reviewer: Reviewer,
): Finding {
  const { path, changeType, oldPath } = file;
  const ways: Readonly<Record<string, string>> = {
    add: 'is new',
    copy: 'is new',
    delete: 'is gone',
    rename: `has moved from \`${oldPath ?? path}\``,
    mode: 'has another mode',
  };
  const what =
    parts.length === 0
      ? ''
      : ` (${parts
          .slice(0, maxParts)
          .map((part) => `\`${part}\``)
          .join(', ')}${parts.length > maxParts ? `, and ${parts.length - maxParts} more` : ''})`;
  const kinds: Readonly<Record<string, string>> = {
    script: 'is executed to verify',
    manifest: 'says what verifies',
    config: 'says how it is verified',
  };
  const [subject, way] = [`\`${path}\`${what}`, ways[changeType] ?? 'changes'];
  const described = `${subject} ${kinds[role] ?? 'judges'} and ${way}, reached from ${via}`;
  const messages: Readonly<Record<Reviewer, string>> = {
    people: `${described}; a person reviews it before the change is committed`,
    policy: `${subject} ${way} and checks use it, so they also run ${changeType === 'add' ? 'without it' : 'with the old version'}`,
    nobody: `${described}; it takes an approval: \`writ rules ${rule}\` says how`,
  };
  return {
    rule,
    severity,
    message: messages[reviewer],
    path,
    detail: {
      code: 'JUDGE_CHANGED',
      role,
      via,
      ...(checks.length === 0 ? {} : { checks: checks.slice(0, 50) }),
      ...(parts.length === 0 ? {} : { parts: parts.slice(0, maxParts), count: parts.length }),
      ...(reviewer === 'policy' ? { judgedBy: 'policy', lay } : {}),
    },
  };
}

/** Reports scripts and files that writ could not follow. */
function gapFindings({ judge: reach, patch }: RuleInput): readonly Finding[] {
  const gaps = reach?.gaps ?? [];
  if (gaps.length === 0 || patch.files.length === 0) return [];
  const message = `not everything that checks execute was followed: ${gaps.slice(0, 5).join('; ')}${gaps.length > 5 ? `; and ${gaps.length - 5} more` : ''}`;
  return [{ rule, severity: 'note', message }];
}
