/* Commands that show recorded runs: `runs`, `show`, `cancel`, `report` and `graph`. */
import { readVersion } from '../../api/build.ts';
import { threadGraph } from '../../api/graph/thread-graph.ts';
import { withLandingState } from '../../api/run/approve-run.ts';
import type { RunAudit } from '../../api/run/audit.ts';
import { type OpenedRun, openRun, originOfSpec } from '../../api/run/open-run.ts';
import { describedRules, toRunData } from '../../api/run/run-data.ts';
import { toRunsData } from '../../api/run/verdict.ts';
import { cancelRun } from '../../api/run/waiting-run.ts';
import { gitEvidence } from '../../api/verify/git-evidence.ts';
import { formatEvidenceFile, isInLedger, logSnapshot } from '../../attest/verify/evidence-file.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { DescribedRule } from '../../core/interfaces/rule.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { cancelDraft, findWaitingDraft, listWaitingDrafts } from '../../engine/draft/waiting-drafts.ts';
import { listRuns } from '../../engine/record/list-runs.ts';
import { rules } from '../../gates/rules.ts';
import { sessionThreads } from '../../session/thread/read-thread.ts';
import { gitLine } from '../../workspace/git/git.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { showDraft } from '../command-parts/drafted-run.ts';
import { openEngine } from '../command-parts/engine.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import { demandOptions, trustOptions } from '../command-table/contract-commands.ts';
import { printGraph } from '../report/graph/graph-text.ts';
import { renderRunHtml } from '../report/html.ts';
import { printRun } from '../report/human.ts';
import { renderRunJunit, renderRunMarkdown, renderRunSarif } from '../report/run-formats.ts';
import { printChanged } from '../report/words.ts';
import { type Printer, styled } from '../terminal/print.ts';
import { toResult } from './run.ts';

/** `writ runs`: newest first, drafts that wait for a person among them. */
export async function runsCommand(context: CommandContext): Promise<CommandResult> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const begun = await listRuns(context.stores, repository, systemClock);
  const drafts = await listWaitingDrafts(repository, begun);
  const runs = [...begun, ...drafts].sort((a, b) => (a.runId < b.runId ? 1 : -1));
  const remotes = runs.length === 0 ? await gitLine(repository, ['remote']) : '';
  return succeeded(toRunsData(runs), (printer) => {
    if (runs.length === 0) printer.line('no runs yet');
    if (remotes !== '') printer.line(styled('dim', '  next  '), '`writ fetch` gets the runs of a remote');
    printer.table(
      runs.map((run) => {
        const { runId, startedAt, state, summary } = run;
        const decision = 'decision' in run ? run.decision : undefined;
        const isSealed = 'landing' in run && run.landing === 'sealed';
        const isStopped = state === 'interrupted';
        const isUnknown = 'landing' in run && run.landing === 'unknown';
        const isOpen = decision === undefined || isSealed || isUnknown || isStopped;
        const color = isOpen ? 'yellow' : decision === 'commit' ? 'green' : 'red';
        const shown = isStopped
          ? state
          : isSealed
            ? 'sealed, not landed'
            : isUnknown
              ? 'sealed, landing unknown'
              : (endWords[decision ?? ''] ?? state);
        return [runId, startedAt, styled(color, shown), summary];
      }),
    );
    if (printer.quiet || drafts.length === 0) return;
    for (const { runId, request, waitsFor } of drafts) {
      printer.line();
      printer.line(styled('bold', runId), '  a draft that waits');
      for (const said of request) printer.line('  asked  ', said);
      for (const why of waitsFor) printer.line('  ', why);
      printer.line(styled('dim', `  writ show ${runId}; writ resume ${runId} --yes; writ cancel ${runId}`));
    }
  });
}

/** How a run ended, in the words of reports (`api/run/verdict.ts`). */
const endWords: Readonly<Record<string, string>> = {
  commit: 'committed',
  abandon: 'refused',
  rollback: 'rolled back',
  checkpoint: 'waiting',
  retry: 'retry',
};

/** `writ show RUN`: one run in full, whatever became of it; a draft that waits, as it would be confirmed. */
export async function showCommand(context: CommandContext): Promise<CommandResult> {
  const [wanted = ''] = context.args;
  const draft = await showDraft(context, wanted);
  if (draft !== undefined) return draft;
  const opened = await openRun(context, wanted);
  const { view, changed } = await withLandingState(context, opened.view);
  const { asked, note } = await originOfSpec(opened);
  const data = {
    ...toRunData(view),
    ...(changed.length === 0 ? {} : { changed_since: changed.map((one) => ({ ...one })) }),
    ...(note === undefined ? {} : { short_spec: { sha256: sha256Hex(note), text: note } }),
    ...(asked === undefined ? {} : { asked: { ...asked } }),
  };
  const print = (printer: Printer): void => {
    printRun(printer, view, 'show');
    const tree = view.patch?.candidateTree ?? '';
    if (!printer.quiet) printChanged((...parts) => printer.line(...parts), changed, tree);
  };
  return succeeded(data, (printer) => {
    print(printer);
    if (printer.quiet) return;
    if (note !== undefined) {
      printer.line();
      printer.line(`  expanded from the short spec sha256:${sha256Hex(note)}`);
      for (const line of note.trimEnd().split('\n')) printer.line('    ', line);
    }
    if (asked === undefined) return;
    printer.line();
    for (const said of asked.said) printer.line('  asked  ', said);
    printer.line(
      `  drafted by ${asked.provider} ${asked.model}, in ${asked.turns} turns, ${asked.cost_units} cost units`,
    );
  });
}

/**
 * `writ cancel RUN`: ends a run with Decision.Abandon in any state; exit 0 if that is its result. Deletes a waiting
 * draft.
 */
export async function cancelCommand(context: CommandContext): Promise<CommandResult> {
  const [wanted = ''] = context.args;
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const draft = await findWaitingDraft(context.stores, repository, systemClock, wanted);
  if (draft !== undefined) {
    await cancelDraft(repository, draft);
    return succeeded({ run_id: draft, state: 'cancelled' }, (printer) =>
      printer.line(`draft ${draft}: cancelled; nothing of it is left`),
    );
  }
  const view = await cancelRun({
    ...context,
    run: wanted,
    reason: context.options.value('reason') ?? 'no reason given',
    async withEngine(end) {
      await using engine = await openEngine(context, { ephemeralKey: true });
      return await end(engine);
    },
  });
  if (view.decision?.type !== 'abandon') return toResult(view, context.print);
  return succeeded(toRunData(view), (printer) => printRun(printer, view));
}

type Described = () => Promise<readonly DescribedRule[]>;

/** Forms of a report by the option that names their file. */
const forms: Readonly<
  Record<
    string,
    (view: RunView, described: Described, audit: () => Promise<RunAudit>) => string | Promise<string>
  >
> = {
  html: async (view, _, audit) => renderRunHtml(view, await audit()),
  markdown: renderRunMarkdown,
  sarif: async (view, described) => renderRunSarif(view, readVersion(), await described()),
  junit: renderRunJunit,
};

/** `writ report RUN`: the run for people, for other tools and for verifiers elsewhere; as text without a file. */
export async function reportCommand(context: CommandContext): Promise<CommandResult> {
  const release = context.options.value('release');
  if (release !== undefined) return reportRelease(context, release);
  if (context.args[0] === undefined)
    throw new WritError('USAGE', { message: 'expected a run, or `--release A..B` for a range of commits' });
  const wanted = Object.entries(forms).flatMap(([form, render]) => {
    const path = context.options.value(form);
    return path === undefined ? [] : [{ path, render }];
  });
  const bundle = context.options.value('bundle');
  const verifying = [...trustOptions, ...demandOptions].find(
    ({ name }) => context.options.values(name).length > 0,
  );
  if (verifying !== undefined && context.options.value('html') === undefined)
    throw new WritError('USAGE', {
      message: `\`--${verifying.name}\` needs \`--html FILE\` or \`--release A..B\`: no other report of a run verifies it`,
      hints: [`\`writ verify ${context.args[0]} --${verifying.name} …\` verifies the run alone`],
    });
  const opened = await openRun(context, context.args[0]);
  const { view } = await withLandingState(context, opened.view);
  if (wanted.length === 0 && bundle === undefined)
    return succeeded({ run_id: view.runId, paths: [] }, (printer) => printRun(printer, view, 'show'));
  const rendered = bundle === undefined ? undefined : await renderEvidence(opened);
  const evidence = bundle !== undefined && rendered ? [{ path: bundle, text: rendered.text }] : [];
  const reports = await Promise.all(
    wanted.map(async ({ path, render }) => ({
      path,
      text: await render(
        view,
        () => describedRules(context, opened, rules),
        async () => {
          const [{ auditRun }, { readTrust }] = await Promise.all([
            import('../../api/run/audit.ts'),
            import('./verify.ts'),
          ]);
          return auditRun(context, { ...opened, view }, await readTrust(context));
        },
      ),
    })),
  );
  const paths = [...evidence, ...reports].map(({ path, text }) => writeOutput(context.cwd, path, text));
  const warnings = rendered?.isLogLeft ? [{ code: 'LOG_NOT_EXPORTED', message: logLeft }] : [];
  for (const { message } of warnings) context.print.note(styled('yellow', 'warning'), `: ${message}`);
  const more = warnings.length === 0 ? {} : { warnings };
  return succeeded({ run_id: view.runId, paths, ...more }, (printer) => {
    for (const path of paths) printer.line(path);
  });
}

/** `writ report --release A..B`: every commit of the range; it exits as `writ verify A..B` does. */
async function reportRelease(context: CommandContext, range: string): Promise<CommandResult> {
  const others = ['bundle', ...Object.keys(forms)].filter(
    (name) => name !== 'html' && context.options.value(name) !== undefined,
  );
  if (context.args.length > 0 || others.length > 0)
    throw new WritError('USAGE', {
      message: `\`--release\` and ${others[0] === undefined ? 'a run' : `\`--${others[0]}\``} cannot be combined`,
      hints: ['a release is reported as text, with `--json`, or as a page with `--html FILE`'],
    });
  const { auditRelease } = await import('../../api/run/audit.ts');
  const { printRelease, releaseWarnings, renderReleaseHtml } = await import('../report/release.ts');
  const { readTrust } = await import('./verify.ts');
  const { data, refusal } = await auditRelease(context, range, await readTrust(context));
  const html = context.options.value('html');
  const path = html === undefined ? undefined : writeOutput(context.cwd, html, renderReleaseHtml(data));
  const shown = path === undefined ? data : { ...data, paths: [path] };
  for (const warning of releaseWarnings(data))
    context.print.note(styled('yellow', 'warning'), `: ${warning}`);
  const print = (printer: Printer): void => {
    if (path === undefined) printRelease(printer, data);
    else printer.line(path);
  };
  return refusal === undefined ? succeeded(shown, print) : refused(refusal, shown, print);
}

const logLeft =
  'the ledger that holds this run is not here, or is damaged, and does not travel with the evidence: a verifier who has seen another size of it cannot compare the two (`not-comparable`, exit 3); export where the ledger is';

/**
 * Returns the evidence of a run that ended in a sealed commit; other runs have none. `isLogLeft` is true if the run
 * is in a ledger that could not be exported.
 */
async function renderEvidence({
  repository,
  store,
  view,
}: OpenedRun): Promise<{ readonly text: string; readonly isLogLeft: boolean }> {
  const commit = view.decision?.commitSha;
  const source = commit === undefined ? undefined : await gitEvidence(repository, store, view.runId, commit);
  if (source) {
    const snapshot = await logSnapshot(source);
    const isLogLeft = snapshot === undefined && (await isInLedger(source));
    return { text: await formatEvidenceFile(view.runId, source, snapshot), isLogLeft };
  }
  throw new WritError('VERIFY_NOTHING', {
    message:
      commit === undefined
        ? 'the run has no sealed commit'
        : `the sealed commit \`${commit}\` is not in this repository`,
    detail: { run_id: view.runId, ...(commit === undefined ? {} : { commit_sha: commit }) },
    hints: ['only a committed run has evidence to export; `writ runs` lists them'],
  });
}

/** `writ graph THREAD`: everything that came of a thread, in the terminal, as data or as a page. */
export async function graphCommand(context: CommandContext): Promise<CommandResult> {
  const [wanted = ''] = context.args;
  const page = context.options.value('html');
  if (page === '-' && context.json) {
    throw new WritError('USAGE', {
      message: '`--html -` and `--json` cannot be combined: both write to stdout',
      hints: ['name a file: `--html FILE`'],
    });
  }
  const graph = await threadGraph(context, wanted, sessionThreads);
  if (page === undefined) return succeeded(graph, (printer) => printGraph(printer, graph));
  const { renderGraphHtml } = await import('../report/graph/graph-html.ts');
  const html = renderGraphHtml(graph);
  if (page === '-') return succeeded(graph, (printer) => printer.raw(html));
  const path = writeOutput(context.cwd, page, html);
  return succeeded(graph, (printer) => printer.line(path));
}
