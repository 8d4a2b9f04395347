/* Distinguishes failures of the machine and old failures from failures of the change. */
import { stripVTControlCharacters } from 'node:util';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { CheckOutcome } from '../../core/interfaces/check.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { ExceededLimit } from '../../core/interfaces/sandbox.ts';
import type { CheckBaseline, CheckRecord } from '../../core/interfaces/stage.ts';
import { type GitDirectory, runGit } from '../../workspace/git/git.ts';
import { treeMentions } from '../../workspace/git/tree.ts';

/** The machine fault that the output of a failed check indicates. */
type EnvironmentSign =
  | { readonly kind: 'program-missing'; readonly program: string }
  | { readonly kind: 'dependency-missing'; readonly name: string; readonly reason: string }
  | { readonly kind: 'package-manager-missing' }
  | { readonly kind: 'disk-full' }
  /** A limit of `[checks]` ended a required check. */
  | { readonly kind: 'limit'; readonly what: ExceededLimit['what'] }
  /** A line of output that says that something is missing. */
  | ({ readonly kind: 'lack' } & Printed)
  /** A check of tests ran none: a line that it printed, and a digest of exit code and output. */
  | ({ readonly kind: 'no-test'; readonly digest: string } & Printed);

/** A line of output, and the lines that follow it: the first often only announces the cause. */
interface Printed {
  readonly line: string;
  readonly more: readonly string[];
}

type Ran = Pick<CheckOutcome, 'executed' | 'findings' | 'result' | 'tests'>;
type Command = Pick<EffectiveCheck, 'command' | 'expectedExitCode'> &
  Partial<Pick<EffectiveCheck, 'required' | 'kind'>>;

/** Octets at the end of the output that are searched. */
const searchedBytes = 16 * 1024;
/** How shells report a program that PATH lacks: `sh: 1: ruff: not found`, `bash: line 1: ruff: command not found`. */
const notFound = /(?:^|: )([\w.+-]{1,100}): (?:command )?not found$/gm;
/**
 * What corepack prints that would download a package manager (it has no network, or its cache is read-only), pnpm that
 * would download the version of it that the project names, and go that would download a toolchain.
 */
const managerStopped =
  /npm (?:error|ERR!) code EBAD(?:DEVENGINES|ENGINE)|Error when performing the request(?: to https?:|$)|Network access disabled by the environment; can't reach https?:|EROFS: [^\n]{1,60} '[^'\n]{0,300}\/node\/corepack\/|GET https?:\/\/\S{1,200}\/(?:pnpm|@pnpm(?:%2f|\/)exe): |^go: (?:download go[\d.]{1,20}\S{0,20}: |[^\n]{0,300}\brequires go >= [\d.]{1,20} \(running go |[^\n]{0,300}: toolchain not available)|go\.mod:\d{1,6}: (?:invalid go version '|unknown directive: toolchain)/im;
/**
 * What rustup prints that has not installed the toolchain that a project names, or one of its components, what uv and
 * poetry print without the Python that it names, and the wrapper of Gradle that cannot download its version.
 */
const toolchainStopped =
  /^error: (?:could not download file from 'https?:\/\/[^'\n]{1,300}\/(?:channel-)?rust|could not create [^\n]{1,300}\/\.rustup\/[^\n]{1,200}: Read-only file system|(?:override )?toolchain '[^'\n]{1,200}' is not installed|'[\w-]{1,60}' is not installed for the (?:custom )?toolchain '|the '[\w-]{1,60}' component which provides the command '|invalid toolchain: the path '|No interpreter found for |Failed to install cpython-)|^Poetry was unable to find a compatible version|^Downloading https?:\/\/\S{1,300}\/gradle-[\w.-]{1,60}\.zip[\s.\d%]{1,400}Exception in thread "main" java\.(?:net|io)\./m;
const diskFull = /no space left on device|disk quota exceeded/i;

/**
 * Returns a sign that the machine failed and not the change; there are five signs. A limit ended a required check. The
 * shell did not find a program that the command itself starts by name (exit code 127; a path of the repository does
 * not count). A disk is full. If no test passed, a package manager or toolchain cannot be downloaded. A required check
 * lacks the files of a submodule or, if no test passed, an untracked dependency. The output can be false, so
 * `stopIfSameAtBase` confirms it. Pure.
 */
export function environmentSign(check: Command, ran: Ran): EnvironmentSign | undefined {
  const { findings, result, tests } = ran;
  if (result?.exceeded && check.required) return { kind: 'limit', what: result.exceeded.what };
  const text = failedOutput(ran);
  if (text === undefined) return undefined;
  if (diskFull.test(text)) return { kind: 'disk-full' };
  if (result?.exitCode === 127 && check.expectedExitCode !== 127) {
    const own = programsOf(check.command ?? '');
    const missing = [...text.matchAll(notFound)].map(([, name = '']) => name);
    const program = missing.find((name) => own.has(name));
    if (program !== undefined) return { kind: 'program-missing', program };
  }
  const hasPassed = (tests?.passed ?? 0) > 0;
  if (!hasPassed && (managerStopped.test(text) || toolchainStopped.test(text)))
    return { kind: 'package-manager-missing' };
  if (!check.required) return undefined;
  const note = findings.find(
    ({ severity, detail }) => severity === 'note' && detail?.code === 'WORKSPACE_DEPENDENCIES_MISSING',
  );
  // A missing package stops every test; an empty submodule stops those that read its files.
  if (hasPassed && note?.detail?.submodule !== true) return undefined;
  const name = note?.detail?.name;
  return typeof name === 'string' && note !== undefined
    ? { kind: 'dependency-missing', name, reason: note.message }
    : undefined;
}

/** The end of what a failed check printed; `undefined` if it passed, or if something ended it. */
function failedOutput({ findings, result }: Ran): string | undefined {
  const hasFailed = findings.some(({ severity }) => severity === 'error');
  if (!hasFailed || result === undefined || result.timedOut || result.aborted || result.exceeded)
    return undefined;
  return result.combined.bytes.subarray(-searchedBytes).toString('utf8');
}

/** What programs print that miss a file, a module, a tool or a network. */
const lacks =
  /not found|cannot find|can't find|could not (?:find|resolve|download|fetch)|no such (?:file|command|module|toolchain)|no module named|not installed|no matching distribution|no interpreter found|undefined function|unable to (?:resolve|connect|locate)|failed to (?:download|fetch|resolve)|EAI_AGAIN|ENOTFOUND|ENETUNREACH|getaddrinfo|name resolution|network is unreachable|NoSuchFile|ClassNotFound|may not be used on the|shared object|offline/i;
const maxLine = 200;

/** Such lines of a required check in which no test passed. */
function lackingLines(check: Command, ran: Ran): readonly string[] {
  if (countsOf(ran).passed > 0) return [];
  return printedLines(check, ran).filter((line) => lacks.test(line) && !namesOwnPath(check, line));
}

/** Whether a line names a path of the command: that is missing in the repository, and not on the machine. */
function namesOwnPath({ command = '' }: Command, line: string): boolean {
  // `ci/test.sh: line 3: poetry: command not found`
  const said = line.replace(/^\S{1,200}: (?:line )?\d{1,6}: (?=\S)/, '');
  return command.split(/\s+/).some((word) => /\w[./]\w/.test(word) && said.includes(word));
}

/** What a required check printed that failed. */
function printedLines(check: Command, ran: Ran): readonly string[] {
  const text = check.required ? failedOutput(ran) : undefined;
  const lines = stripVTControlCharacters(text ?? '').split('\n');
  return lines.map((line) => shorten(line.trim())).filter((line) => line !== '');
}

function countsOf({ tests, executed }: Ran): { readonly passed: number; readonly failed: number } {
  return tests ?? executed?.counts ?? { passed: 0, failed: 0 };
}

/** Cuts a line between words: redaction would not know a part of a secret. */
function shorten(line: string): string {
  return line.length <= maxLine
    ? line
    : line
        .slice(0, maxLine + 1)
        .replace(/\S*$/, '')
        .trimEnd();
}

/** Numbers vary between runs. */
function withoutNumbers(line: string): string {
  return line.replace(/\d+/g, '0');
}

/** A runner of which it is known how it reports tests. Any other command may run tests that are not seen. */
const ofTestRunner =
  /(?:^|[\s;&|/])(?:pytest|py\.test|jest|vitest|mocha|ava|rspec|phpunit|tox|nox|ctest)(?:\s|$)|\bpython3?\s+-m\s+(?:pytest|unittest)\b|\b(?:cargo|go|dotnet|deno|bun|swift|mix|sbt)\s+(?:nextest|test)\b|(?:^|[\s;&|/])(?:mvnw?|gradlew?)\s/;

/** A line that says what is wrong; other lines are places and advice. */
const complaint =
  /\berror\b|error:|fail|cannot|could not|must|require[sd] |unknown|unrecogni[sz]ed|unsupported|invalid/i;

function untestedSign(check: Command, ran: Ran): EnvironmentSign | undefined {
  const { passed, failed } = countsOf(ran);
  // A missing report is a fault of the check, not of the machine.
  if (ran.result?.exitCode === check.expectedExitCode) return undefined;
  const isOfTests = check.kind === 'testSuite' || ofTestRunner.test(check.command ?? '');
  if (passed + failed > 0 || !isOfTests) return undefined;
  const lines = printedLines(check, ran);
  const line = lines.find((one) => complaint.test(one) && !/\busage:/i.test(one)) ?? lines.at(-1);
  if (line === undefined || lines.some((one) => lacks.test(one) && namesOwnPath(check, one)))
    return undefined;
  const printed = [`${ran.result?.exitCode}`, ...lines.map(withoutNumbers)];
  return { kind: 'no-test', ...withFollowing(line, lines), digest: sha256Hex(printed.join('\n')) };
}

const maxFollowing = 2;

function withFollowing(line: string, lines: readonly string[]): Printed {
  const after = lines.indexOf(line) + 1;
  return { line, more: lines.slice(after, after + maxFollowing) };
}

/** A file of the project itself, which a model may have to write. */
const ownFile = /(?:^|[\s'"`(])\.{1,2}\/|\/workspace\//;

/**
 * A sign that the machine, or the base itself, lacks what the check needs: a line that says so, or a check of tests
 * that runs none. It is weaker than those of `environmentSign`: only the same line, or the same output, at the base
 * confirms it. `attempt`: the name of an attempt of a model, which may mend what the base lacks, and gets two attempts
 * to do so. Pure.
 */
export function lackSign(check: Command, ran: Ran, attempt?: string): EnvironmentSign | undefined {
  if (attempt !== undefined && /(?:candidate-[01]|\/revision-1\/attempt-[12])$/.test(attempt))
    return undefined;
  const line = lackingLines(check, ran).find((one) => attempt === undefined || !ownFile.test(one));
  return line === undefined
    ? untestedSign(check, ran)
    : { kind: 'lack', ...withFollowing(line, printedLines(check, ran)) };
}

/** Files in which a project declares its dependencies and its scripts. */
const manifests = [
  ...[
    'package.json',
    'package-lock.json',
    'npm-shrinkwrap.json',
    'pnpm-lock.yaml',
    'yarn.lock',
    '.gitignore',
    '.gitmodules',
  ],
  ...[
    'pyproject.toml',
    'requirements*.txt',
    'setup.py',
    'setup.cfg',
    'tox.ini',
    'noxfile.py',
    'Pipfile',
    '*.lock',
  ],
  ...['Cargo.toml', 'go.mod', 'pom.xml', 'Makefile', 'makefile', 'GNUmakefile'],
];

/**
 * Whether a sign can be one of the machine. A name that neither the command nor a manifest of the base mentions, or
 * that the change puts into the tree, may be a module of the project itself, which a change has yet to write.
 */
export async function canBeOfMachine(
  sign: EnvironmentSign,
  { command = '' }: Command,
  patch: Pick<PatchSet, 'baseTree' | 'files'>,
  place: GitDirectory,
): Promise<boolean> {
  if (sign.kind !== 'dependency-missing') return true;
  // `left-pad@>=1.0.0`, `@a%2fb`, `org.example:part`
  const name = sign.name
    .replaceAll(/%2f/gi, '/')
    .replace(/(?<=.)@.*/, '')
    .replace(/^[\w.-]+:/, '');
  const isOfChange = patch.files.some(({ path }) => `/${path.replace(/\.\w+$/, '')}/`.includes(`/${name}/`));
  if (isOfChange) return false;
  // A word of the command, as in `npx jest@29`; not a word of a script in it (`python3 -c 'import calc'`).
  if (command.split(/[\s;&|]+/).some((word) => word.replace(/(?<=.)@.*/, '') === name)) return true;
  // Python packages are imported with `_` and named with `-`.
  const spellings = [...new Set([name, name.replaceAll('_', '-')])];
  // No project has a module of these names to write: a directory that its users may ignore in settings of their own,
  // Maven's repository of what it has downloaded, and Maven's plugins, which no `pom.xml` has to name.
  if (
    /^(?:node_modules\b|\.m2$|org\.apache\.maven\.[\w.]+:)/.test(sign.name) ||
    (await treeMentions(place, patch.baseTree, spellings, { words: manifests }))
  )
    return true;
  const packages = await packagesAround(name, patch, place);
  return packages.length > 0 && (await treeMentions(place, patch.baseTree, packages, { words: manifests }));
}

/**
 * The packages that can contain a module: `lodash` for `lodash/fp`, `@scope/name` for `@scope/name/sub`, `google-cloud`
 * for `google.cloud.storage`, `github.com/a/b` for `github.com/a/b/c`. Empty if it is a module of the project itself.
 */
async function packagesAround(
  name: string,
  { baseTree, files }: Pick<PatchSet, 'baseTree' | 'files'>,
  place: GitDirectory,
): Promise<readonly string[]> {
  const parts = name.split(name.includes('/') ? '/' : '.');
  const [first = ''] = parts;
  const isHost = name.includes('/') && first.includes('.');
  const shortest = isHost ? 3 : first.startsWith('@') ? 2 : 1;
  const prefixes = parts.slice(shortest).map((_, more) => parts.slice(0, shortest + more));
  if (prefixes.length === 0 || !/^@?\w/.test(first)) return [];
  const isOfChange = files.some(({ path }) =>
    prefixes.some((prefix) => `/${path}/`.includes(`/${prefix.join('/')}/`)),
  );
  if (isOfChange) return [];
  if (isHost) {
    const own = prefixes.map((prefix) => `module ${prefix.join('/')}`);
    if (await treeMentions(place, baseTree, own, { words: ['go.mod'] })) return [];
  }
  // An import from the root of the project, or from its usual directories.
  const own = ['', 'src/', 'lib/'].flatMap((directory) => [
    `${directory}${first}`,
    `${directory}${first}.py`,
  ]);
  const listed = await runGit(place, ['ls-tree', '--full-tree', '--end-of-options', baseTree, ...own]);
  if (listed.length > 0) return [];
  if (name.includes('/')) return prefixes.map((prefix) => prefix.join('/'));
  return [...prefixes, parts].flatMap((prefix) => ['-', '.', '_'].map((mark) => prefix.join(mark)));
}

/**
 * Throws ENVIRONMENT_BROKEN or WORKSPACE_DEPENDENCIES_MISSING if the check ends with the same sign at the base. The
 * base contains no part of the change, so the failure gives no verdict on it, and the run stops without a decision.
 * `skipped`: why directories are not shared, in sentences.
 */
export function stopIfSameAtBase(
  check: Pick<EffectiveCheck, 'id'> & Command,
  sign: EnvironmentSign,
  base: Ran,
  skipped: readonly string[] = [],
): void {
  const other = signAtBase(check, sign, base);
  if (other?.kind !== sign.kind) return;
  if (sign.kind === 'no-test' && other.kind === 'no-test' && other.digest !== sign.digest) return;
  if (sign.kind === 'program-missing' && other.kind === 'program-missing' && other.program !== sign.program)
    return;
  if (sign.kind === 'dependency-missing') {
    if (other.kind === 'dependency-missing' && other.name === sign.name)
      throw dependencyMissing(check.id, sign);
    return;
  }
  const [fault, remedy] = explain(sign);
  throw new WritError('ENVIRONMENT_BROKEN', {
    message: `check \`${check.id}\` ${fault} at the base commit too`,
    detail: { check: check.id, ...sign },
    hints: [
      ...skipped,
      sign.kind === 'limit'
        ? `${remedy}, then ${goOn}`
        : `${remedy}, then \`writ resume RUN\`; the change is neither accepted nor refused yet`,
    ],
  });
}

/** The sign of the same kind that the run at the base gives. */
function signAtBase(check: Command, sign: EnvironmentSign, base: Ran): EnvironmentSign | undefined {
  if (sign.kind === 'no-test') return untestedSign(check, base);
  if (sign.kind !== 'lack') return environmentSign(check, base);
  const wanted = withoutNumbers(sign.line);
  return lackingLines(check, base).some((line) => withoutNumbers(line) === wanted) ? sign : undefined;
}

function explain(
  sign: Exclude<EnvironmentSign, { readonly kind: 'dependency-missing' }>,
): readonly [fault: string, remedy: string] {
  if (sign.kind === 'disk-full')
    return ['found a full disk in the sandbox,', 'free space on the disk that holds temporary files'];
  if (sign.kind === 'limit')
    return [
      `uses more ${sign.what} than the limit: it does so`,
      sign.what === 'memory'
        ? 'raise `[checks] max_memory_mb`, or let the check run less in parallel'
        : 'let the check start fewer processes at once',
    ];
  if (sign.kind === 'package-manager-missing')
    return [
      'starts a version of a package manager or toolchain that would be downloaded: it is missing',
      'install it (`corepack install` or `rustup toolchain install` in the project), or where checks see it',
    ];
  if (sign.kind === 'lack' || sign.kind === 'no-test')
    return [
      `${sign.kind === 'lack' ? 'passes' : 'shows'} no test and prints ${[sign.line, ...sign.more].map((one) => `\`${one}\``).join(', ')}: it does so`,
      'let the check pass at the base commit on this machine (`writ help checks`, "Faults of the machine")',
    ];
  return [
    `starts \`${sign.program}\`, which this machine does not have: it is missing`,
    `install \`${sign.program}\` where checks see it`,
  ];
}

/** How a run goes on that stopped for missing dependencies: it keeps the configuration of its policy commit. */
export const goOn =
  '`writ resume RUN`; if you change `.writ/config.toml`, commit that to the policy branch and start a new `writ run`; the change is neither accepted nor refused yet';

function dependencyMissing(
  check: string,
  { name, reason }: EnvironmentSign & { readonly kind: 'dependency-missing' },
): WritError {
  return new WritError('WORKSPACE_DEPENDENCIES_MISSING', {
    message: `check \`${check}\` fails because \`${name}\` is missing, at the base commit too`,
    detail: { check, name },
    hints: [reason, `install it in a directory that checks see, then ${goOn}`],
  });
}

/** The programs that the parts of a command start by a bare name. */
function programsOf(command: string): ReadonlySet<string> {
  const parts = command.slice(0, 10_000).split(/&&|\|\||[;|&\n(){}]/);
  return new Set(
    parts.flatMap((part) => {
      const word = part
        .trim()
        .split(/\s+/)
        .find((one) => !/^[A-Za-z_]\w*=/.test(one) && !/^(?:!|exec|command|env|if|then|do)$/.test(one));
      const bare = word?.replace(/^(["'])(.*)\1$/, '$2');
      return bare === undefined || bare === '' || bare.includes('/') ? [] : [bare];
    }),
  );
}

type Failure = NonNullable<CheckBaseline['failure']>;

const maxNamed = 20;
/**
 * Codes that a failed test leaves. Any other code (no report, no test, a broken report) does not indicate a failed
 * test.
 */
const ofTests: readonly unknown[] = ['CHECK_EXIT_CODE', 'TESTS_FAILED', 'TEST_FAILED'];

/** Returns whether a run at the base can explain a failed check: it ran to its end and failed as tests fail. */
export function canBeOldFailure({ status, kind, timedOut, exitCode, findings }: CheckRecord): boolean {
  if (status !== 'failed' || kind === 'policy' || timedOut || exitCode === undefined) return false;
  const codes = findings.filter(({ severity }) => severity === 'error').map(({ detail }) => detail?.code);
  return codes.length > 0 && codes.every((code) => ofTests.includes(code));
}

/**
 * Distinguishes a regression from an old failure by one run at the base. An old failure has the same exit code at the
 * base. For a suite, each failed test must also fail at the base at least as often. A result that cannot be compared
 * is `unknown`, which is never tolerated. Pure.
 */
export function compareFailure(candidate: CheckRecord, base: CheckOutcome): Failure {
  const unlike = unknownOf(base);
  if (unlike !== undefined) return { outcome: 'unknown', reason: unlike };
  const baseCodes = codesOf(base);
  if (baseCodes.length === 0) return { outcome: 'regression', reason: 'it passes at the base' };
  if (!baseCodes.every((code) => ofTests.includes(code)))
    return {
      outcome: 'unknown',
      reason: `at the base it fails for another reason (${baseCodes.join(', ')})`,
    };
  const { exitCode } = candidate;
  if (base.result?.exitCode !== exitCode) {
    const reason = `it ends with exit code ${exitCode}, and with ${base.result?.exitCode} at the base`;
    return { outcome: 'regression', reason };
  }
  if (candidate.kind !== 'testSuite')
    return { outcome: 'old-failure', reason: `it ends with exit code ${exitCode} at the base too` };
  return compareTests(candidate.tests, base.tests);
}

function compareTests(candidate: CheckRecord['tests'], base: CheckOutcome['tests']): Failure {
  if (!candidate || !base) return { outcome: 'unknown', reason: 'there are not two test reports to compare' };
  const old = new Map<string, number>();
  for (const { name } of base.failedTests ?? []) old.set(name, (old.get(name) ?? 0) + 1);
  const named = candidate.failedTests ?? [];
  const added = named.filter(({ name }) => {
    const left = old.get(name) ?? 0;
    old.set(name, left - 1);
    return left <= 0;
  });
  if (added.length > 0) {
    const count = added.length === 1 ? '1 test fails' : `${added.length} tests fail`;
    const newFailures = added.slice(0, maxNamed).map(({ name }) => name);
    return { outcome: 'regression', reason: `${count} that did not fail at the base`, newFailures };
  }
  const areAllNamed = named.length === candidate.failed && (base.failedTests?.length ?? 0) === base.failed;
  if (!areAllNamed) return { outcome: 'unknown', reason: 'more tests failed than are named' };
  const count = named.length === 1 ? 'the test that fails' : `all ${named.length} tests that fail`;
  return { outcome: 'old-failure', reason: `${count} failed at the base too` };
}

/** Returns why the run at the base cannot be compared. */
function unknownOf({ result, findings }: CheckOutcome): string | undefined {
  if (!result) return 'it did not run at the base';
  if (result.timedOut || result.aborted || result.exceeded) return 'it was ended at the base';
  if (result.exitCode === undefined) return 'a signal ended it at the base';
  if (result.exitCode === 126 || result.exitCode === 127) return 'its command is not there at the base';
  return findings.some(({ detail }) => detail?.code === 'WORKSPACE_DEPENDENCIES_MISSING')
    ? 'what it depends on is not there at the base'
    : undefined;
}

function codesOf({ findings }: CheckOutcome): readonly string[] {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return [...new Set(errors.map(({ rule, detail }) => String(detail?.code ?? rule)))];
}
