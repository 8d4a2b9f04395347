import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { runIntent } from '../../core/run/run-intent.ts';
import type { WritEngine } from '../../core/run/writ-engine.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command.ts';
import { buildRepository, demoFiles } from '../demo/build-repository.ts';
import { openEngine } from '../open-engine.ts';
import { type Printer, styled } from '../print.ts';
import { renderRunHtml } from '../report/html.ts';
import { printRun } from '../report/human.ts';
import { toRunData } from '../report/run-data.ts';
import { printVerification, type VerifiedTarget } from '../report/verification.ts';
import { progressPlugin } from '../run-progress.ts';
import { readVersion } from '../version.ts';
import { writeOutput } from '../write-output.ts';
import { verifyTargets } from './verify.ts';

/** Patches that must be refused, and the rule that each breaks. */
const badPatches = [
  { file: 'bad-no-tests.patch', about: 'the fix without a regression test', rule: 'new-tests' },
  { file: 'bad-eval.patch', about: 'the fix with a call of `eval`', rule: 'no-direct-eval' },
  { file: 'bad-out-of-scope.patch', about: 'the fix, and a change outside the scope', rule: 'scope' },
] as const;

interface Refusal {
  readonly patch: string;
  readonly about: string;
  readonly expected: string;
  readonly view: RunView;
}

/** `writ demo`: a sample repository taken through the chain and verified. Exit 1 where anything is not as it must be. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const out = await openDirectory(context);
  const env = demoEnvironment(context, out);
  const repository = join(out, 'orders');
  const note = (text: string): void => context.print.note(text);
  note('1/4  making a repository with an authentication bypass in it');
  await buildRepository(repository, {
    PATH: env.PATH ?? '',
    HOME: env.HOME ?? '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  });

  const here: CommandContext = { ...context, env, repoPath: repository, cwd: out };
  await using engine = await openEngine(here, { plugins: [progressPlugin(context.progress)] });
  const refusals: Refusal[] = [];
  note('2/4  offering three patches that must be refused');
  for (const { file, about, rule } of badPatches) {
    const view = await runPatch(engine, here, repository, file);
    context.progress.clear();
    note(`     ${view.decision?.type ?? 'undecided'}: ${about} (${view.decision?.rationale ?? ''})`);
    refusals.push({ patch: file, about, expected: rule, view });
  }
  note('3/4  offering the fix with its regression tests');
  const view = await runPatch(engine, here, repository, 'fix.patch');
  context.progress.clear();
  note('4/4  verifying the sealed commit, offline');
  const commit = view.decision?.commitSha;
  const verified = commit === undefined ? [] : await verifyTargets(here, [commit]);
  const report = writeOutput(out, 'report.html', renderRunHtml(view));
  return toResult({ out, repository, report, view, refusals, verified });
}

interface Demo {
  readonly out: string;
  readonly repository: string;
  readonly report: string;
  readonly view: RunView;
  readonly refusals: readonly Refusal[];
  readonly verified: readonly VerifiedTarget[];
}

function toResult(demo: Demo): CommandResult {
  const { view, refusals, verified, repository, report } = demo;
  const isVerified = verified.length > 0 && verified.every((target) => target.report.verified);
  const wrong = refusals.filter(
    ({ view: bad, expected }) => bad.decision?.type !== 'abandon' || !rulesOf(bad).includes(expected),
  );
  const data = {
    ...toRunData(view),
    verified: isVerified,
    repository,
    report,
    refused: refusals.map(({ patch, about, view: bad }) => ({
      patch,
      about,
      run_id: bad.runId,
      decision: bad.decision?.type ?? null,
      rationale: bad.decision?.rationale ?? null,
      rules: rulesOf(bad),
    })),
  };
  const human = (printer: Printer): void => printDemo(printer, demo, isVerified);
  if (view.decision?.type === 'commit' && isVerified && wrong.length === 0) return succeeded(data, human);
  const error = new WritError('DEMO_FAILED', {
    message:
      wrong.length > 0
        ? `\`${wrong[0]?.patch}\` was not refused for \`${wrong[0]?.expected}\``
        : isVerified
          ? 'the fix was not committed'
          : `the fix was not sealed and verified: ${view.decision?.rationale ?? ''}`,
  });
  return refused(error, data, human);
}

/** Rules that gave an \`error\`, over patch and stages. */
function rulesOf(view: RunView): readonly string[] {
  const findings = [...view.findings, ...view.stages.flatMap((stage) => stage.findings)];
  return [...new Set(findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule))];
}

function printDemo(
  printer: Printer,
  { repository, report, view, refusals, verified }: Demo,
  isVerified: boolean,
): void {
  printer.line(styled('bold', 'refused, as they should be'));
  for (const { patch, about, view: bad } of refusals) {
    printer.line('  ', styled('red', bad.decision?.type ?? 'undecided'), `  ${patch}: ${about}`);
    const first = [...bad.findings, ...bad.stages.flatMap((stage) => stage.findings)].find(
      ({ severity }) => severity === 'error',
    );
    if (first)
      printer.line(
        styled(
          'dim',
          `    ${first.rule}  ${first.path ?? ''}${first.line === undefined ? '' : `:${first.line}`}  ${first.message}`,
        ),
      );
  }
  printer.line();
  printer.line(styled('bold', 'sealed'));
  printRun(printer, view);
  printer.line();
  for (const one of verified) printVerification(printer, one);
  printer.line();
  printer.line(styled('bold', isVerified ? 'what to look at next' : 'what is left behind'));
  printer.table([
    ['  the page for people', report],
    ['  the repository', repository],
    ['  the sealed commit', `git -C ${repository} log -1`],
    ['  its evidence', `git -C ${repository} ls-tree -r --name-only refs/ai/runs/${view.runId}`],
    [
      '  from another home',
      `HOME=$(mktemp -d) XDG_CONFIG_HOME= writ verify HEAD --repo ${repository}   # untrusted-signer`,
    ],
  ]);
}

async function runPatch(
  engine: WritEngine,
  context: CommandContext,
  repository: string,
  patch: string,
): Promise<RunView> {
  return runIntent(engine, {
    repositoryPath: repository,
    specBytes: await readFile(join(demoFiles, 'intent.json')),
    source: { kind: 'patch', bytes: await readFile(join(demoFiles, patch)) },
    sandbox: 'auto',
    schedulerVersion: readVersion(),
    clock: systemClock,
    signal: context.signal,
  });
}

async function openDirectory(context: CommandContext): Promise<string> {
  const given = context.options.value('out');
  if (given === undefined) return mkdtemp(join(tmpdir(), 'writ-demo-'));
  const out = resolve(context.cwd, given);
  try {
    await mkdir(out);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      throw new WritError('OUTPUT_EXISTS', {
        message: `\`${given}\` cannot be made: expected a path where nothing stands yet`,
        detail: { path: given },
        cause,
      });
    }
    const reason = code === 'ENOENT' ? `its parent \`${dirname(out)}\` does not exist` : messageOf(cause);
    throw new WritError('OUTPUT_FAILED', {
      message: `\`${given}\` cannot be made: ${reason}`,
      detail: { path: given },
      cause,
    });
  }
  return out;
}

/** The demo signs with keys of its own, so that trying writ leaves nothing in the person's home. */
function demoEnvironment({ env }: CommandContext, out: string): CommandContext['env'] {
  const { CI: _ci, XDG_CONFIG_HOME: _config, ...rest } = env;
  return { ...rest, HOME: join(out, 'home') };
}
