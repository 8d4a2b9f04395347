/* The review document of a spec. */
import type { Issue } from '../core/interfaces/finding.ts';
import type {
  EffectiveIntentSpec,
  EffectiveToolRule,
  IntentSpec,
} from '../core/interfaces/intentspec.gen.ts';
import { markdownQuotation, markdownText } from '../readers/documents/markdown-text.ts';
import { checkLists } from './checks-of.ts';
import { type Fact, limitFacts, peopleWords, provenanceFacts } from './facts.ts';

export interface ReviewRequest {
  readonly document: IntentSpec;
  readonly effective: EffectiveIntentSpec;
  readonly digest: string;
  readonly issues: readonly Issue[];
  /** What may be written and what may not, one sentence each, as the planner sees it. */
  readonly scope: readonly string[];
  /** The current status, if events have changed it since the document was written. */
  readonly currentStatus?: string;
}

/** Renders the spec for a person to review: Markdown, effective values, all untrusted text escaped. */
export function reviewDocument(request: ReviewRequest): string {
  const { effective: spec, digest, issues, scope } = request;
  const { metadata, intent, acceptance, risk, lifecycle } = spec;
  const { type, id, displayName } = metadata.createdBy;
  return sections([
    [
      `# ${markdownText(intent.summary)}`,
      facts([
        ['Intent', metadata.id],
        ['Digest', `sha256:${digest}`],
        ['Status', request.currentStatus ?? lifecycle.status],
        ['Author', `${displayName ? `${displayName}, ` : ''}${type} ${id}, ${metadata.createdAt}`],
        [
          'Repository',
          `${metadata.target.repo.type} ${metadata.target.repo.locator} at ${metadata.target.baseRef}`,
        ],
        ['Change', `${intent.changeType}, ${risk.level} risk`],
      ]),
    ],
    issues.length === 0
      ? []
      : [
          '## Remarks',
          list(
            issues.map(
              ({ severity, code, path, message }) =>
                `${severity} ${code} at ${path || 'the document'}: ${message}`,
            ),
          ),
        ],
    ['## Problem', markdownQuotation(intent.problemStatement)],
    ['## Objectives', list(intent.objectives)],
    [
      '## Scope',
      list(scope),
      'In the words of the author:',
      list([
        ...intent.inScope.map((entry) => `in: ${entry}`),
        ...intent.outOfScope.map((entry) => `out: ${entry}`),
      ]),
    ],
    ['## Accepted when', list(acceptance.successCriteria), checkTable(spec)],
    ['## Limits', facts(limitFacts(spec))],
    [
      '## Risk',
      markdownQuotation(risk.rationale),
      list([...risk.factors.map((factor) => `factor: ${factor}`), peopleWords(spec)]),
    ],
    [
      '## Rights of tools',
      list([
        ...spec.security.toolAcl.deny.map(ruleText('deny')),
        ...spec.security.toolAcl.allow.map(ruleText('allow')),
      ]),
    ],
    ['## Artifacts and provenance', artifactTable(spec), facts(provenanceFacts(spec))],
    lifecycle.changeLog.length === 0
      ? []
      : [
          '## History',
          list(
            lifecycle.changeLog.map(
              ({ at, by, reason, diffSummary }) => `${at}, ${by}: ${reason}: ${diffSummary}`,
            ),
          ),
        ],
  ]);
}

function ruleText(verdict: 'allow' | 'deny'): (rule: EffectiveToolRule) => string {
  return ({ tool, actions, constraints }) => {
    const limits = Object.keys(constraints).length > 0 ? ` with ${JSON.stringify(constraints)}` : '';
    return `${verdict} ${tool}: ${actions.join(', ')}${limits}`;
  };
}

function checkTable({ acceptance }: EffectiveIntentSpec): string {
  const rows = checkLists.flatMap((stage) =>
    acceptance.verificationPlan[stage].map(({ id, kind, command, timeoutSeconds, required }) => [
      stage.replace('Checks', ''),
      id,
      kind,
      command ?? '',
      `${timeoutSeconds} s`,
      required ? 'yes' : 'no',
    ]),
  );
  return rows.length === 0
    ? 'No check is listed: a run cannot commit.'
    : table(['Stage', 'Check', 'Kind', 'Command', 'Time-out', 'Required'], rows);
}

function artifactTable({ artifacts }: EffectiveIntentSpec): string {
  const rows = artifacts.required.map(({ name, stage, required, format }) => [
    name,
    stage,
    required ? 'yes' : 'no',
    format,
  ]);
  return table(['Artifact', 'Stage', 'Required', 'Format'], rows);
}

function facts(entries: readonly Fact[]): string {
  return entries.map(([name, value]) => `- ${name}: ${markdownText(value)}`).join('\n');
}

function list(entries: readonly string[]): string {
  return entries.map((entry) => `- ${markdownText(entry)}`).join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map((row) => line(row.map(markdownText)))].join(
    '\n',
  );
}

function sections(parts: readonly (readonly string[])[]): string {
  return `${parts
    .flat()
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}
