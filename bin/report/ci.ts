/* Reports a run to the CI system in which it runs: annotations, summary, outputs, files. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readVersion } from '../../api/build.ts';
import { type EndedRun, toVerdict } from '../../api/run/verdict.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { describeRules } from '../../core/kernel/rules.ts';
import { rules } from '../../gates/rules.ts';
import { outcomeOf, summaryFile, toSummary, worstFirst } from '../ci/summary.ts';
import { renderRunHtml } from './html.ts';
import { renderRunJunit, renderRunMarkdown, renderRunSarif } from './run-formats.ts';

interface CiPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One line to the log of the job. */
  readonly log: (line: string) => void;
}

/** Where the reports of a run are: below `RUNNER_TEMP` on GitHub, else below the working directory. */
export function reportsDirectory(runId: string, { cwd, env }: Pick<CiPlace, 'cwd' | 'env'>): string {
  return join(env.GITHUB_ACTIONS === 'true' ? (env.RUNNER_TEMP ?? cwd) : cwd, `writ-reports-${runId}`);
}

/**
 * Writes reports into a new directory and returns its path. On GitHub also annotations, the job summary and step
 * outputs; on GitLab a code quality report.
 */
export async function reportToCi(view: EndedRun, { cwd, env, log }: CiPlace): Promise<string> {
  const isGitHub = env.GITHUB_ACTIONS === 'true';
  const directory = reportsDirectory(view.runId, { cwd, env });
  mkdirSync(directory, { recursive: true });
  // In a working tree git ignores the directory by this file of its own.
  if (!isGitHub) writeFileSync(join(directory, '.gitignore'), '*\n');
  const markdown = renderRunMarkdown(view);
  const files: Readonly<Record<string, string>> = {
    'run.sarif': renderRunSarif(view, readVersion(), await describeRules(rules)),
    'junit.xml': renderRunJunit(view),
    'run.html': renderRunHtml(view),
    'run.md': markdown,
    [summaryFile]: `${JSON.stringify(toSummary(view), null, 2)}\n`,
    ...(env.GITLAB_CI === 'true' ? { 'code-quality.json': codeQuality(view) } : {}),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  if (isGitHub) {
    for (const line of annotations(view)) log(line);
    if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, summary(markdown));
    if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, outputs(view, directory));
  }
  return directory;
}

/** GitHub shows 10 errors and 10 warnings of a step, and drops others without a word (actions/toolkit#734). */
const mostOfLevel = 10;

/** Workflow commands, the worst first, and how many findings have none: at least, as a rule lists only its first. */
export function annotations(view: RunView): readonly string[] {
  const lines: string[] = [];
  let hidden = 0;
  const shown = { error: 0, warning: 0 };
  for (const { severity, rule, message, path, line } of worstFirst(view)) {
    if (severity === 'note') continue;
    shown[severity] += 1;
    if (shown[severity] > mostOfLevel) {
      hidden += 1;
      continue;
    }
    const place = [
      ...(path === undefined ? [] : [`file=${property(path)}`]),
      ...(line === undefined ? [] : [`line=${line}`]),
      `title=${property(`writ: ${rule}`)}`,
    ];
    lines.push(`::${severity} ${place.join(',')}::${data(message)}`);
  }
  const { word, sentence } = toVerdict(view);
  const more = hidden === 0 ? '' : `; at least ${hidden} more findings are in the summary and in run.sarif`;
  return [...lines, `::notice title=${property(`writ: ${word}`)}::${data(`${sentence}${more}`)}`];
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** GitHub refuses a summary above 1 MiB as a whole (dorny/test-reporter#581). */
const maxSummary = 1_000_000;

function summary(markdown: string): string {
  const bytes = Buffer.from(markdown);
  if (bytes.length <= maxSummary) return `${markdown}\n`;
  const cut = bytes.subarray(0, maxSummary).toString('utf8');
  return `${cut.slice(0, cut.lastIndexOf('\n'))}\n\n_Cut here: run.html of the reports has all of it._\n`;
}

function outputs(view: RunView, directory: string): string {
  const values = {
    'run-id': view.runId,
    outcome: outcomeOf(view),
    commit: view.decision?.commitSha ?? '',
    reports: directory,
  };
  // A delimiter that no value can hold.
  const end = `writ-${randomOctets(16).toString('hex')}`;
  return Object.entries(values)
    .map(([name, value]) => `${name}<<${end}\n${value}\n${end}\n`)
    .join('');
}

/** GitLab's report of code quality. */
function codeQuality(view: RunView): string {
  const severities = { error: 'major', warning: 'minor', note: 'info' } as const;
  const issues = worstFirst(view).map(({ severity, rule, message, path = '.', line = 1 }) => ({
    description: message,
    check_name: rule,
    fingerprint: sha256Hex([rule, path, message].join('\0')),
    severity: severities[severity],
    location: { path, lines: { begin: line } },
  }));
  return `${JSON.stringify(issues, null, 2)}\n`;
}
