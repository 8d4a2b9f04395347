import { readVersion } from '../../api/build.ts';
import { type OpenedRun, openRun } from '../../api/run/open-run.ts';
import { describedRules } from '../../api/run/run-data.ts';
import { withStanding } from '../../api/run/with-standing.ts';
import { gitEvidence } from '../../api/verify/git-evidence.ts';
import { formatEvidenceFile } from '../../attest/verify/evidence-file.ts';
import { isInLedger, logSnapshot } from '../../attest/verify/log-snapshot.ts';
import { WritError } from '../../core/base/errors.ts';
import type { DescribedRule } from '../../core/interfaces/rule.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { rules } from '../../gates/rules.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import { renderRunHtml } from '../report/html.ts';
import { renderRunJunit } from '../report/junit.ts';
import { renderRunMarkdown, renderRunSarif } from '../report/markdown.ts';
import { styled } from '../terminal/print.ts';

type Described = () => Promise<readonly DescribedRule[]>;

/** Forms of a report by the option that names their file. */
const forms: Readonly<Record<string, (view: RunView, described: Described) => string | Promise<string>>> = {
  html: renderRunHtml,
  markdown: renderRunMarkdown,
  sarif: async (view, described) => renderRunSarif(view, readVersion(), await described()),
  junit: renderRunJunit,
};

/** `writ report RUN`: the run for people, for other tools and for verifiers elsewhere, in at least one form. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const wanted = Object.entries(forms).flatMap(([form, render]) => {
    const path = context.options.value(form);
    return path === undefined ? [] : [{ path, render }];
  });
  const bundle = context.options.value('bundle');
  if (wanted.length === 0 && bundle === undefined) {
    const options = ['bundle', ...Object.keys(forms)].map((form) => `\`--${form} FILE\``);
    throw new WritError('USAGE', { message: `expected at least one of ${options.join(', ')}` });
  }
  const opened = await openRun(context, context.args[0] ?? '');
  const { view } = await withStanding(context, opened.view);
  const rendered = bundle === undefined ? undefined : await renderEvidence(opened);
  const evidence = bundle !== undefined && rendered ? [{ path: bundle, text: rendered.text }] : [];
  const reports = await Promise.all(
    wanted.map(async ({ path, render }) => ({
      path,
      text: await render(view, () => describedRules(context, opened, rules)),
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

const logLeft =
  'the ledger that holds this run is not here, or is damaged, and does not travel with the evidence: a verifier who has seen another size of it cannot compare the two (`not-comparable`, exit 3); export where the ledger is';

/**
 * The evidence of a run that ended in a sealed commit; of any other there is nothing to verify. `isLogLeft`: it stands
 * in a ledger of which nothing could be exported.
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
    hints: ['only a run that ended in a commit can be handed to a verifier'],
  });
}
