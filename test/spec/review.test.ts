import t from 'tap';
import { warning } from '../../core/interfaces/finding.ts';
import { reviewDocument } from '../../spec/review.ts';
import { accepted, type Json, put, sample, type ValidName } from './sample.ts';

function review(
  document: Json,
  scope: readonly string[] = ['writes src/basket.js'],
  remarks: readonly string[] = [],
): string {
  const { document: read, effective, digest } = accepted(document);
  return reviewDocument({
    document: read,
    effective,
    digest,
    scope,
    issues: remarks.map((message) => warning('SEMANTIC_X', '/risk', message)),
  });
}

t.test('the review shows everything that a person agrees to', async (t) => {
  for (const name of ['minimal', 'typical', 'high-assurance'] satisfies ValidName[]) {
    const text = review(sample(name));
    const { effective, digest } = accepted(sample(name));
    t.ok(text.includes(`sha256:${digest}`));
    t.ok(text.includes('- writes src/basket.js'));
    for (const { id } of Object.values(effective.acceptance.verificationPlan).flat())
      t.ok(text.includes(`| ${id} |`), id);
    for (const { name: artifact } of effective.artifacts.required)
      t.ok(text.includes(`| ${artifact} |`), artifact);
  }
  const high = review(sample('high-assurance'));
  for (const said of [
    'Payments \\(lead\\)',
    'at least 2 approvals',
    '14 days',
    'HMAC-SHA-256',
    'scope-creep',
    'node&#62;=22',
    'factor: cryptography',
  ])
    t.ok(high.includes(said), said);
});

t.test('the review shows each part of every changeLog entry', async (t) => {
  const document = sample('minimal');
  const entry = {
    at: '2026-02-03T04:05:06Z',
    by: 'somebody',
    reason: 'the reason of it',
    diffSummary: 'what differs',
  };
  put(document, ['lifecycle', 'changeLog'], [entry]);
  const text = review(document);
  for (const [part, words] of Object.entries(entry)) t.ok(text.includes(words), part);
  t.notMatch(review(sample('minimal')), '## History');
});

t.test('remarks are listed with their code and place', async (t) => {
  t.ok(
    review(sample('minimal'), [], ['expected more']).includes(
      '- warning SEMANTIC\\_X at /risk: expected more',
    ),
  );
  t.notOk(review(sample('minimal')).includes('## Remarks'));
});

t.test('the review of a spec without checks says that it cannot commit', async (t) => {
  const document = sample('minimal');
  put(document, ['acceptance', 'verificationPlan', 'fastChecks'], []);
  t.match(review(document), /cannot commit/);
});

t.test('the text of the author adds no markup, link or hidden character to the review', async (t) => {
  const attack =
    'x | y <img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](http://a.example) `code` **bold** @team www.a.example # h \u202e\u0007\u200b\u{e0041}';
  const document = sample('minimal');
  for (const path of [
    ['intent', 'objectives', 0],
    ['intent', 'inScope', 0],
    ['acceptance', 'successCriteria', 0],
    ['acceptance', 'verificationPlan', 'fastChecks', 0, 'command'],
    ['risk', 'rationale'],
    ['metadata', 'createdBy', 'displayName'],
    ['constraints', 'security', 'cryptoPolicy'],
  ]) {
    put(document, path, attack);
  }
  put(
    document,
    ['intent', 'problemStatement'],
    `${attack}\n# heading\n- item\n\n1. one\n---\n\`\`\`\n| a | b |\n<script>alert(1)</script>\r\n> quote`,
  );
  put(document, ['security', 'toolAcl', 'allow', 0, 'constraints'], { allowCommands: [attack] });
  const text = review(document, [attack], [attack]);
  t.notMatch(text, /</);
  t.ok(text.includes('&#60;img src=x onerror=alert\\(1\\)&#62;'), 'entities stay whole');
  t.notMatch(text, /(?<!\\)[[\]`*]/);
  t.notMatch(text, /https?:\/\/|www\.|@team/);
  t.notMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f\u200b\u202e\u{e0041}]/u);
  for (const line of text.split('\n')) t.ok(/^(?:# |## |- |> ?|\| |$|[A-Z])/.test(line), line);
  const table = text.split('\n').filter((line) => line.startsWith('| ') && line.includes('unit'));
  t.equal(table[0]?.match(/(?<!\\)\|/g)?.length, 7);
});

t.test('a summary that looks like markup stays a title', async (t) => {
  for (const summary of ['# twice', '- item', '1. one', '=====', '<b>bold</b>']) {
    const document = sample('minimal');
    put(document, ['intent', 'summary'], summary.padEnd(5, '='));
    t.match(review(document).split('\n')[0], /^# (?:\\|&|1\\)/, summary);
  }
});
