import type { Finding } from '../../core/contract/finding.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import type { CheckRecord, StageRecord } from '../../core/contract/stage.ts';
import { revealHidden } from '../reveal-hidden.ts';

const maxText = 4000;

/**
 * A run as JUnit XML for CI systems: one suite per stage, one case per check, and a suite `patch` for the rules about the change. A check that
 * is not required and failed is skipped with its reason, as it does not block; a stage that never started has its checks skipped.
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

function stageSuite({ stage, checks, findings, expected, ran, status }: StageRecord): Suite {
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
  return suite(stage, cases);
}

function toCase({ id, status, required, durationMs, findings }: CheckRecord): Case {
  const base = { name: id, seconds: durationMs / 1000 };
  if (status === 'passed') return base;
  if (status === 'waiting') return { ...base, skipped: 'it waits for people' };
  const reason = describe(findings.filter(({ severity }) => severity === 'error'));
  return required ? { ...base, failure: reason } : { ...base, skipped: `failed, not required: ${reason}` };
}

function suite(name: string, cases: readonly Case[]): Suite {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const head = `  <testsuite name="${attribute(name)}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}">`;
  const body = cases.map((one) => {
    const open = `    <testcase classname="${attribute(name)}" name="${attribute(one.name)}" time="${one.seconds.toFixed(3)}"`;
    if (one.failure !== undefined) return `${open}><failure message="${attribute(one.failure)}"/></testcase>`;
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

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Untrusted text in an attribute: characters that XML 1.0 cannot hold, and those that hide something, are named. */
function attribute(text: string): string {
  const bounded = text.length > maxText ? `${text.slice(0, maxText)}…` : text;
  const shown = revealHidden(bounded.toWellFormed(), (found, code) =>
    found === '\n' || found === '\t' ? found : `[U+${code.toUpperCase().padStart(4, '0')}]`,
  );
  return shown
    .replace(/[&<>"']/g, (found) => entities[found] ?? '')
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('\t', '&#9;')
    .replaceAll('\n', '&#10;');
}
