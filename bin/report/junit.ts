import type { Finding } from '../../core/interfaces/finding.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { type CheckRecord, failureOutput, type StageRecord } from '../../core/interfaces/stage.ts';
import { escapeHtml } from './page-frame.ts';

/**
 * A run as JUnit XML for CI systems: one suite per stage, one case per check, and a suite `patch` for the rules about
 * the change. A check that is not required and failed is skipped with its reason, as it does not block; a stage that
 * never started has its checks skipped.
 */
export function renderRunJunit(view: RunView): string {
  const suites = [patchSuite(view.findings), ...view.stages.map(stageSuite)];
  const sum = (key: 'tests' | 'failures' | 'skipped'): number =>
    suites.reduce((total, suite) => total + suite[key], 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${attribute(`writ run ${view.runId}`)}" tests="${sum('tests')}" failures="${sum('failures')}" skipped="${sum('skipped')}">`,
    ...suites.map(({ xml }) => xml),
    '</testsuites>',
    '',
  ].join('\n');
}

interface Suite {
  readonly tests: number;
  readonly failures: number;
  readonly skipped: number;
  readonly xml: string;
}

interface Case {
  readonly name: string;
  readonly seconds: number;
  readonly failure?: string;
  /** What the check printed. */
  readonly output?: string;
  readonly skipped?: string;
}

function patchSuite(findings: readonly Finding[]): Suite {
  const byRule = Map.groupBy(findings, ({ rule }) => rule);
  return suite(
    'patch',
    [...byRule].map(([rule, found]) => {
      const errors = found.filter(({ severity }) => severity === 'error');
      return { name: rule, seconds: 0, ...(errors.length === 0 ? {} : { failure: describe(errors) }) };
    }),
  );
}

function stageSuite({ stage, checks, findings, expected, ran, status, asked = [] }: StageRecord): Suite {
  const cases: Case[] = checks.map(toCase);
  const own = findings.filter(({ severity }) => severity === 'error');
  if (own.length > 0) cases.push({ name: `${stage} stage`, seconds: 0, failure: describe(own) });
  else if (status !== 'passed' && ran < expected) {
    cases.push({
      name: `${stage} stage`,
      seconds: 0,
      skipped: `${expected - ran} of ${expected} checks did not run`,
    });
  }
  const ofPlugins = asked.filter((one) => one.status === 'passed');
  cases.push(...ofPlugins.map(({ name, plugin }) => ({ name: `${name} of plugin ${plugin}`, seconds: 0 })));
  return suite(stage, cases);
}

function toCase(check: CheckRecord): Case {
  const { id, status, required, durationMs, findings } = check;
  const base = { name: id, seconds: durationMs / 1000 };
  if (status === 'passed') return base;
  if (status === 'waiting') return { ...base, skipped: 'it waits for people' };
  const reason = describe(findings.filter(({ severity }) => severity === 'error'));
  const output = failureOutput(check)?.text;
  return required
    ? { ...base, failure: reason, ...(output === undefined ? {} : { output }) }
    : { ...base, skipped: `failed, not required: ${reason}` };
}

function suite(name: string, cases: readonly Case[]): Suite {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const head = `  <testsuite name="${attribute(name)}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}">`;
  const body = cases.map((one) => {
    const open = `    <testcase classname="${attribute(name)}" name="${attribute(one.name)}" time="${one.seconds.toFixed(3)}"`;
    if (one.failure !== undefined) {
      const failure = `<failure message="${attribute(one.failure)}"`;
      // Escaped like an attribute: no text of a program ends the element.
      const end = one.output === undefined ? '/>' : `>${attribute(one.output, one.output.length)}</failure>`;
      return `${open}>${failure}${end}</testcase>`;
    }
    if (one.skipped !== undefined) return `${open}><skipped message="${attribute(one.skipped)}"/></testcase>`;
    return `${open}/>`;
  });
  return { tests: cases.length, failures, skipped, xml: [head, ...body, '  </testsuite>'].join('\n') };
}

function describe(findings: readonly Finding[]): string {
  const lines = findings.slice(0, 20).map(({ rule, path, line, message }) => {
    const place = path === undefined ? '' : ` ${path}${line === undefined ? '' : `:${line}`}`;
    return `${rule}${place}: ${message}`;
  });
  const more = findings.length > 20 ? [`and ${findings.length - 20} more`] : [];
  return [...lines, ...more].join('\n') || 'it failed';
}

/**
 * Untrusted text in an attribute. What escapes HTML escapes XML; beside it go the characters that XML 1.0 cannot hold,
 * and line structure stays.
 */
function attribute(text: string, maxLength?: number): string {
  return escapeHtml(text.toWellFormed(), maxLength)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('\t', '&#9;')
    .replaceAll('\n', '&#10;');
}
