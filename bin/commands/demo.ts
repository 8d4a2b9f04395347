/* The `writ demo` command. */
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readVersion } from '../../api/build.ts';
import { auditRun } from '../../api/run/audit.ts';
import { evaluateHere, openRun } from '../../api/run/open-run.ts';
import { toRunData } from '../../api/run/run-data.ts';
import { openWaitingRun } from '../../api/run/waiting-run.ts';
import { noDemands } from '../../api/verify/demands.ts';
import { verifyTargets } from '../../api/verify/verify-targets.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import { importAdvisories } from '../../plugins/supply-chain/advisories/import-advisories.ts';
import { advisoryDir } from '../../plugins/supply-chain/advisories/open-advisory-database.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { reachProvider } from '../command-parts/reach-provider.ts';
import { makeDirectory, writeOutput } from '../command-parts/write-output.ts';
import {
  type ModelPart,
  readSeal,
  runByModel,
  toModelData,
  whatIsWrongWithModel,
} from '../demo/model-run.ts';
import {
  buildRepository,
  type DemoPerson,
  demoFiles,
  demoTraffic,
  maintainer,
  makePeople,
  sessionTraffic,
  writeScript,
} from '../demo/people.ts';
import { type Demo, printDemo, type Refusal, rulesOf, type Wait } from '../demo/print-demo.ts';
import { renderRunHtml } from '../report/html.ts';
import { styled } from '../terminal/print.ts';
import { progressPlugin } from '../terminal/run-progress.ts';

/** Patches that must be refused, and the rule that each breaks. */
const badPatches = [
  { file: 'bad-no-tests.patch', about: 'the fix without a regression test', rule: 'new-tests' },
  { file: 'bad-eval.patch', about: 'the fix with a call of `eval`', rule: 'no-direct-eval' },
  { file: 'bad-out-of-scope.patch', about: 'the fix, and a change outside the scope', rule: 'scope' },
] as const;

/**
 * `writ demo`: runs a sample repository through the high-assurance workflow and verifies it. Exit 1 if any result is
 * unexpected.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const out = await openDirectory(context);
  const home = join(out, 'home');
  const repository = join(out, 'orders');
  const here: CommandContext = {
    ...context,
    env: demoEnvironment(context, home),
    repoPath: repository,
    cwd: out,
  };
  const say = (text: string): void => {
    context.progress.clear();
    context.print.note(text);
  };

  if (context.options.flag('prepare')) {
    await prepare(here, repository, '');
    await cp(sessionTraffic, join(out, 'recording'), { recursive: true });
    const { sessionRequest } = await import('../demo/session-demo.ts');
    const lines = [`cd ${repository}`, 'writ code --provider replay:../recording'];
    return succeeded({ repository, request: sessionRequest, lines }, (printer) => {
      printer.line(
        'A sample repository, and a recorded model that can make one change to it. Open a session:',
      );
      for (const line of lines) printer.line('  ', styled('bold', line));
      printer.line('and paste the request that the model was recorded with:');
      printer.line('  ', styled('bold', sessionRequest));
    });
  }
  if (context.options.flag('session') || context.options.flag('watch')) {
    await prepare(here, repository, '');
    const { sessionDemo } = await import('../demo/session-demo.ts');
    return sessionDemo(here, out, repository);
  }
  say('1/7  making a repository with an authentication bypass in it, keys for three people, one advisory');
  const people = await makePeople(home, maintainer.email);
  await prepare(here, repository, people.allowedSigners);
  await using engine = await openEngine(here, { plugins: [progressPlugin(context.progress)] });

  say('2/7  offering three patches that must be refused');
  const refusals: Refusal[] = [];
  for (const { file, about, rule } of badPatches) {
    const view = await runPatch(engine, here, repository, file);
    say(`     ${view.decision?.type ?? 'undecided'}: ${about} (${view.decision?.rationale ?? ''})`);
    refusals.push({ patch: file, about, expected: rule, view });
  }

  say('3/7  offering the fix with its regression tests, which is not approved yet');
  const first = await runPatch(engine, here, repository, 'fix.patch');
  say(`     ${first.state}: ${first.decision?.rationale ?? ''}`);

  say('4/7  its author approves');
  const second = await goOn(engine, here, repository, first, [people.author]);
  const waits = [
    { about: 'no one has approved it', view: first, approvals: [] },
    { about: 'its author approved it', view: second, approvals: await approvalsOf(here, second) },
  ];
  say(`     ${second.state}: ${second.decision?.rationale ?? ''}`);

  say('5/7  two others approve; the demonstration signs for them, and its policy commit lets that count');
  const view = await goOn(engine, here, repository, second, people.reviewers);
  say(`     ${view.decision?.type ?? view.state}: ${view.decision?.rationale ?? ''}`);

  say('6/7  verifying the sealed commit, offline');
  const commit = view.decision?.commitSha;
  const demands = { ...noDemands, allowedSigners: Buffer.from(people.allowedSigners) };
  const verified = commit === undefined ? [] : await verifyTargets(here, [commit], demands);
  const seal = verified.length === 0 ? undefined : await readSeal(here.stores, repository, view.runId);
  say('7/7  asking a model for another change, in plain words; what it says was recorded');
  const model = await askModel(engine, here, repository, demands);
  say(`     ${model.view.decision?.type ?? model.view.state}: ${model.view.decision?.rationale ?? ''}`);
  const audit = await auditRun(here, { ...(await openRun(here, view.runId)), view });
  writeOutput(out, 'report.html', renderRunHtml(view, audit));
  await writeScript(out, home, repository);
  const next = nextLines(view.runId, model.view.runId);
  return toResult({ out, repository, view, refusals, waits, verified, seal, model, next });
}

/** A request, drafted, planned and worked by a model out of a recording, then verified. */
async function askModel(
  engine: WritEngine,
  here: CommandContext,
  repository: string,
  demands: Parameters<typeof verifyTargets>[2],
): Promise<ModelPart> {
  const choice = { provider: `replay:${demoTraffic}`, flags: {} };
  const reach = reachProvider({ variable: () => undefined, keys: {} });
  const ran = await runByModel(engine, here, repository, choice, reach);
  const commit = ran.view.decision?.commitSha;
  return { ...ran, verified: commit === undefined ? [] : await verifyTargets(here, [commit], demands) };
}

/** Everything that the sample needs before a run: commits, and advisories to look its packages up in. */
async function prepare(
  { env, signal }: CommandContext,
  repository: string,
  allowedSigners: string,
): Promise<void> {
  const git = {
    PATH: env.PATH ?? '',
    HOME: env.HOME ?? '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  await buildRepository(repository, git, allowedSigners);
  const path = join(demoFiles, 'advisories.json');
  await importAdvisories({ root: advisoryDir(env), path, clock: systemClock, signal });
}

/** Commands that work in the demo's directory. A test runs each. */
function nextLines(runId: string, modelRunId: string): Demo['next'] {
  return [
    { line: 'git -C orders log -2', about: 'the sealed commits, their trailers' },
    { line: `./writ show ${runId}`, about: 'the run in full' },
    {
      line: './writ verify HEAD~1 --allowed-signers orders/.writ/allowed_signers',
      about: 'all of it, again',
    },
    {
      line: './writ verify HEAD~1 --explain',
      about: 'each claim: its evidence, who signed, where it is logged',
    },
    {
      line: `./writ show ${modelRunId}`,
      about: 'the run of the model: what it was asked, and its second attempt',
    },
    { line: `./writ replay ${runId}`, about: 'the decision, from its stored inputs' },
    { line: './writ ledger show', about: 'the log, and the key to pin' },
    { line: `git -C orders ls-tree -r --name-only refs/ai/runs/${runId}`, about: 'the evidence: plain git' },
    {
      line: 'DEMO_HOME=$(mktemp -d) ./writ verify HEAD~1',
      about: 'as somebody who trusts none of the keys: exit 3',
      exit: 3,
    },
    {
      line: 'DEMO_HOME=$(mktemp -d) ./writ verify HEAD~1 --key home/.config/writ/keys/signing-*.pub.pem',
      about: 'and once the signer has given them the public one',
    },
  ];
}

function toResult(demo: Demo): CommandResult {
  const { view, refusals, waits, verified, seal, model, repository, out, next } = demo;
  const isVerified = verified.length > 0 && verified.every(({ report }) => report.verified);
  const data = {
    ...toRunData(view),
    verified: isVerified,
    model: toModelData(model),
    repository,
    report: join(out, 'report.html'),
    refused: refusals.map(({ patch, about, view: bad }) => ({
      patch,
      about,
      run_id: bad.runId,
      decision: bad.decision?.type ?? null,
      rationale: bad.decision?.rationale ?? null,
      rules: rulesOf(bad),
    })),
    waited: waits.map(({ about, view: waiting, approvals }) => ({
      about,
      state: waiting.state,
      rationale: waiting.decision?.rationale ?? null,
      approvals: approvals.map(({ principal, status }) => ({ principal, status })),
    })),
    approvals: (seal?.approvals ?? []).map(({ principal, keyId, inProcess }) => ({
      principal,
      key_id: keyId,
      in_process: inProcess,
    })),
    next: next.map(({ line, about, exit = 0 }) => ({ line, about, exit })),
  };
  const human = (printer: CommandContext['print']): void => printDemo(printer, demo);
  const wrong = whatIsWrong(demo) ?? whatIsWrongWithModel(model);
  return wrong === undefined
    ? succeeded(data, human)
    : refused(new WritError('DEMO_FAILED', { message: wrong }), data, human);
}

/** Returns the first unexpected result; `undefined` if there is none. */
function whatIsWrong({ view, refusals, waits, verified, seal }: Demo): string | undefined {
  const through = refusals.find(
    ({ view: bad, expected }) => bad.decision?.type !== 'abandon' || !rulesOf(bad).includes(expected),
  );
  if (through) return `\`${through.patch}\` was not refused for \`${through.expected}\``;
  const early = waits.find(({ view: one }) => one.state !== 'waiting');
  if (early) return `the fix did not wait although ${early.about}: ${early.view.decision?.rationale ?? ''}`;
  if (waits[1]?.approvals.some(({ status }) => status === 'author') !== true)
    return "the author's approval was not reported as one";
  if (view.decision?.type !== 'commit')
    return `the fix was not committed: ${view.decision?.rationale ?? view.state}`;
  if (seal?.approvals.length !== 2 || seal.approvals.some(({ inProcess }) => !inProcess))
    return 'the seal does not say that two people approved in process';
  const failing = verified.flatMap(({ report }) => report.checks).find(({ status }) => status !== 'passed');
  if (verified.length === 0 || failing || verified.some(({ report }) => !report.verified))
    return `the sealed commit does not verify: \`${failing?.id ?? 'nothing'}\``;
  return undefined;
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
    witness: userJournalWitness(context.env),
    clock: systemClock,
    signal: context.signal,
  });
}

/** Resumes the waiting run. These people sign in this process when it requests approval. */
function goOn(
  engine: WritEngine,
  { env, signal }: CommandContext,
  repository: string,
  { runId }: RunView,
  people: readonly DemoPerson[],
): Promise<RunView> {
  return resumeRun(engine, {
    repositoryPath: repository,
    runId,
    sandbox: 'auto',
    schedulerVersion: readVersion(),
    approvers: people.map(({ approver }) => approver),
    witness: userJournalWitness(env),
    clock: systemClock,
    signal,
  });
}

/** Returns the verified approvals of a waiting run; empty for any other run. */
async function approvalsOf(context: CommandContext, view: RunView): Promise<Wait['approvals']> {
  if (view.state !== 'waiting') return [];
  const { approvers } = await evaluateHere(await openWaitingRun(context, view.runId));
  return approvers;
}

async function openDirectory(context: CommandContext): Promise<string> {
  const given = context.options.value('out');
  if (given === undefined) return mkdtemp(join(tmpdir(), 'writ-demo-'));
  return makeDirectory(context, given);
}

/** Uses the demo's own keys, so that a demo leaves no files in the user's home directory. */
function demoEnvironment({ env }: CommandContext, home: string): CommandContext['env'] {
  const { CI: _ci, XDG_CONFIG_HOME: _config, XDG_DATA_HOME: _data, ...rest } = env;
  return { ...rest, HOME: home };
}
