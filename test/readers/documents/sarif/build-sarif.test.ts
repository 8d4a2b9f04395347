import t from 'tap';
import type { Finding } from '../../../../core/interfaces/finding.ts';
import { buildSarif, type SarifRequest } from '../../../../readers/documents/sarif/build-sarif.ts';
import { githubIngestionFaults } from './github-ingestion-faults.ts';

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region: { readonly startLine: number; readonly startColumn?: number };
    };
  }[];
  readonly partialFingerprints: { readonly primaryLocationLineHash: string };
  readonly suppressions?: readonly { readonly kind: string; readonly justification?: string }[];
}

interface Run {
  readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
  readonly results: readonly Result[];
  readonly invocations: readonly {
    readonly executionSuccessful: boolean;
    readonly toolExecutionNotifications: readonly { readonly level: string }[];
  }[];
}

function build(findings: SarifRequest['findings'], more: Partial<SarifRequest> = {}): Run {
  const sarif = buildSarif({ findings, ruleIds: ['secrets'], version: '1.2.3', complete: true, ...more });
  const text = JSON.stringify(sarif);
  t.strictSame(githubIngestionFaults(text), []);
  const { runs } = JSON.parse(text) as { readonly runs: readonly Run[] };
  t.equal(runs.length, 1);
  return runs[0] as Run;
}

const finding = (more: Partial<Finding> = {}): Finding => ({
  rule: 'no-direct-eval',
  severity: 'error',
  message: 'it evaluates',
  path: 'src/a.js',
  line: 3,
  column: 5,
  ...more,
});

t.test('every result has a rule, a line from 1 and a unique fingerprint', async (t) => {
  const { results, tool } = build([
    finding(),
    finding({ line: 0, column: 0 }),
    finding({ path: 'b c#d?/e:f%.js' }),
  ]);
  for (const { ruleId, ruleIndex } of results) t.equal(tool.driver.rules[ruleIndex]?.id, ruleId);
  t.ok(
    tool.driver.rules.some(({ id }) => id === 'secrets'),
    'a rule that found nothing ran all the same',
  );
  const regions = results.map((result) => result.locations[0]?.physicalLocation.region);
  t.ok(regions.every((region) => (region?.startLine ?? 0) >= 1 && (region?.startColumn ?? 1) >= 1));
  t.equal(results[2]?.locations[0]?.physicalLocation.artifactLocation.uri, 'b%20c%23d%3F/e%3Af%25.js');
  const prints = results.map((result) => result.partialFingerprints.primaryLocationLineHash);
  t.equal(new Set(prints).size, prints.length, 'two of a kind in one file differ by their number');
});

t.test('a fingerprint depends on the text of the line, not on its number', async (t) => {
  const print = (more: object): string | undefined =>
    build([{ ...finding(), ...more }]).results[0]?.partialFingerprints.primaryLocationLineHash;
  t.equal(print({ line: 3, lineText: 'eval(x)' }), print({ line: 90, lineText: '  eval(x)  ' }));
  t.not(print({ lineText: 'eval(x)' }), print({ lineText: 'eval(y)' }));
});

t.test('a finding without a place is a notification, and an incomplete scan is marked', async (t) => {
  const { results, invocations } = build([{ rule: 'new-tests', severity: 'error', message: 'none' }], {
    complete: false,
  });
  t.equal(results.length, 0);
  t.match(invocations, [{ executionSuccessful: false, toolExecutionNotifications: [{ level: 'error' }] }]);
});

t.test('suppressed findings keep the kind and reason of the suppression', async (t) => {
  const inline = finding({ detail: { suppressed: true, reason: 'marker' }, message: 'an example' });
  const config = finding({ detail: { suppressed: true, reason: 'config' } });
  const { results } = build([inline, config, finding({ detail: { reason: 'marker' } })]);
  t.strictSame(
    results.map(({ suppressions }) => suppressions),
    [
      [{ kind: 'inSource', justification: 'an example' }],
      [{ kind: 'external', justification: 'it evaluates' }],
      undefined,
    ],
  );
});

t.test('escapes links and control characters in messages and limits their length', async (t) => {
  const { results } = build([
    finding({ message: '[click](https://evil.example) \u001b[31m\u202e\u0000\ud800' }),
    finding({ message: 'x'.repeat(10_000) }),
  ]);
  t.equal(results[0]?.message.text, '\\[click\\](https://evil.example) \ufffd\\[31m\ufffd\ufffd\ufffd');
  t.ok((results[1]?.message.text.length ?? 0) <= 4000);
});

t.test('keeps errors first beyond 25,000 results and marks the run as incomplete', async (t) => {
  const notes = Array.from({ length: 25_000 }, (_, line) => finding({ severity: 'note', line: line + 1 }));
  const { results, invocations } = build([...notes, finding({ message: 'last' })]);
  t.equal(results.length, 25_000);
  t.equal(results[0]?.message.text, 'last');
  t.match(invocations, [{ executionSuccessful: false }]);
});
