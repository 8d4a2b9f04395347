import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import type { RunAudit } from '../../../api/run/audit.ts';
import type { ReleaseData } from '../../../api/schemas/run-schema.ts';
import { renderRunHtml } from '../../../bin/report/html.ts';
import { escapeHtml } from '../../../bin/report/page-frame.ts';
import { renderReleaseHtml } from '../../../bin/report/release.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { long } from '../../rooms/long.ts';
import { violations } from '../../session/web/open-browser.ts';
import { abandoned, committed, hostile, hostileText, huge } from './sample-view.ts';

const chromium = '/usr/bin/chromium';
const inPage = readFileSync(new URL('./in-page.js', import.meta.url), 'utf8');

interface Seen {
  readonly scrollWidth: number;
  readonly decisionTop: number;
  readonly headings: readonly string[];
  readonly pwned?: unknown;
  readonly foreign: readonly string[];
}

interface Contrast {
  readonly text: string;
  readonly ratio: number;
}

const key = 'SHA256:wpd6cNxgvhCMNIeFgio4FntGbkT8VYKCE6uKJ2WKw';
const signed = {
  source: 'approvals/0001.json',
  decision: 'approve',
  principal: 'ana@orders.example',
  keyId: key,
  status: 'counts',
  signedAt: '2026-03-04T09:31:00.000Z',
  role: 'security',
} as const;
const audit: RunAudit = {
  people: [
    signed,
    { ...signed, principal: 'ben@orders.example' },
    { ...signed, principal: 'eve@orders.example', status: 'author', detail: 'an author of the change' },
  ],
  document: {
    intent: { problemStatement: 'A part is accepted.', inScope: ['src/auth.js'], outOfScope: ['vendor/'] },
    acceptance: { successCriteria: ['a part is refused'] },
  },
  demands: [{ by: 'spec', needed: 2 }],
  diff: { lines: ['diff --git a/x b/x', '--- a/x', '+++ b/x', '@@ -1 +1 @@', '-old', '+new'], leftOut: 12 },
  used: { tokens: 750, costUsd: 0.004 },
};
/** Every text that the record of a run from elsewhere can choose. */
const hostileAudit: RunAudit = {
  people: [
    {
      ...signed,
      principal: hostileText,
      keyId: hostileText,
      role: hostileText,
      comment: hostileText,
      detail: hostileText,
    },
  ],
  document: {
    intent: { problemStatement: hostileText, inScope: [hostileText, 7, null], outOfScope: { length: 3 } },
    acceptance: hostileText,
  },
  demands: [
    { by: 'policy', needed: 2, check: { id: hostileText, command: hostileText } },
    { by: 'owners', needed: 1, owned: { pattern: hostileText, owners: [hostileText] } },
  ],
  diff: { lines: [`diff --git ${hostileText}`, `+${hostileText}`, `-${hostileText}`], leftOut: 0 },
};
const { decision: _, ...undecided } = committed;
const waiting: RunView = {
  ...undecided,
  state: 'waiting',
  decision: { type: 'checkpoint', rationale: 'people have to approve', decisionDigest: '0'.repeat(64) },
  waiting: { for: 'approval', needed: 2, people: [signed] },
};

const release: ReleaseData = {
  range: `v1..${hostileText}`,
  total: { commits: 1201, sealed: 1200, verified: 1, approvals: 1, people: 1, waivers: 1, model_calls: 2 },
  commits: Array.from({ length: 1201 }, (_, n) => ({
    commit: n.toString(16).padStart(40, '0'),
    subject: n === 1 ? hostileText : 'a subject',
    sealed: n !== 1,
    verified: n === 0,
    approvers: n === 0 ? [hostileText] : [],
    waivers: n === 0 ? [hostileText] : [],
    models: n === 0 ? [{ provider: 'openai', model: hostileText, calls: 2 }] : [],
    ...(n === 0
      ? {
          author: hostileText,
          found: [{ rule: 'tests-kept', severity: 'note', message: hostileText }],
          findings: { errors: 0, warnings: 0, notes: 1 },
        }
      : { why: hostileText }),
  })),
};

t.test('a release says how many of its commits are sealed and verified, and cuts long lists', async (t) => {
  const page = renderReleaseHtml(release);
  t.match(page, '1201 commits: 1 sealed and verified, 1199 sealed but not verified, 1 not sealed.');
  t.match(page, 'and 200 more; <code>--json</code> has all');
  t.match(page, /1 note \(tests-kept\).*note <code><bdi>tests-kept/);
  t.notMatch(page, /<(?:script|img|iframe)\b/i);
  t.ok(page.length < 4_000_000, `${page.length} characters`);
  const [commit] = release.commits;
  const good = {
    ...release,
    commits: commit ? [commit] : [],
    total: { ...release.total, commits: 1, sealed: 1 },
  };
  t.match(renderReleaseHtml(good), '1 commit, all sealed and verified.');
  t.equal(/class="card decision good"/.test(page), false);
  t.equal(/class="card decision good"/.test(renderReleaseHtml(good)), true);
});

/** Evaluates an expression over the functions of in-page.js in the page. */
function ask<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate(`(() => { ${inPage}; return (${expression}); })()`);
}

t.test('the page is one document without scripts, outgoing links, forms or remote addresses', async (t) => {
  for (const [view, more] of [
    [committed, audit],
    [abandoned, undefined],
    [hostile, hostileAudit],
    [waiting, audit],
  ] as const) {
    const page = renderRunHtml(view, more);
    t.notMatch(page, /<(?:script|img|iframe|object|embed|link|form|base)\b/i);
    for (const [tag] of page.matchAll(/<[a-z][^>]*>/gi))
      t.notMatch(tag.replace(/"[^"]*"/g, '""'), /\s(?:on\w+|style|src)\s*=/i);
    for (const [, target] of page.matchAll(/href="([^"]*)"/g)) t.match(target ?? '', /^#[a-z]+$/);
    t.match(page, "content=\"default-src 'none'; style-src 'sha256-");
    t.equal(page.match(/<style>/g)?.length, 1);
  }
});

t.test('untrusted text is escaped, and hidden characters are named', async (t) => {
  const shown = escapeHtml(hostileText);
  t.notMatch(shown, /[<>"'`\x00\x1b\u200b\u202e\u2066]/);
  t.match(shown, '[U+202E]gnp.exe');
  t.equal(escapeHtml('x'.repeat(50), 10), `${'x'.repeat(10)}…`);
  t.equal(escapeHtml('a\nb\tc'), 'a\nb\tc');
  t.equal(escapeHtml('&lt;'), '&amp;lt;');
  t.equal(escapeHtml(`<a href="b">'\``), '&lt;a href=&quot;b&quot;&gt;&#39;&#96;');
});

t.test('only a run with a commit decision is shown as good', async (t) => {
  const words: readonly (readonly [RunView, string])[] = [
    [committed, 'Committed'],
    [abandoned, 'Refused'],
    [{ ...undecided, state: 'waiting' }, 'Waiting'],
    [{ ...undecided, state: 'running' }, 'Running'],
    [{ ...undecided, state: 'interrupted' }, 'Interrupted'],
    [{ ...abandoned, decision: { type: 'rollback', rationale: 'r', decisionDigest: '0' } }, 'Rolled back'],
  ];
  for (const [view, word] of words) {
    const page = renderRunHtml(view);
    t.match(page, `<h1 id="decision">${word}</h1>`);
    t.equal(/class="card decision good"/.test(page), word === 'Committed');
    t.equal(page.includes('writ verify '), word === 'Committed', 'a commit is what can be verified');
  }
});

t.test('the page says in one sentence how it ended, and who signed with which key', async (t) => {
  const page = renderRunHtml(committed, audit);
  t.match(
    page,
    'Committed to main on 2026-03-04 09:30 UTC. 6 of 7 checks passed; no rule reported an error; 2 people approved.',
  );
  t.match(
    page,
    new RegExp(`ana@orders.example</bdi>.*as security.*${key}.*approved.*counts.*2026-03-04 09:31 UTC`),
  );
  t.match(page, 'does not count: author; an author of the change');
  t.match(page, 'The spec asks for 2 approvals.');
  const wordsOf = (more: Partial<RunAudit>) => renderRunHtml(committed, { ...audit, ...more });
  t.match(
    wordsOf({ demands: [{ by: 'writ', needed: 2 }] }),
    'writ asks for 2 approvals of a change to its own',
  );
  t.match(wordsOf({ demands: [] }), 'The record does not show what asked for an approval.', 'one counts');
  t.match(wordsOf({ demands: [], people: [] }), 'No approval was asked for');
  for (const said of ['A part is accepted.', 'src/auth.js', 'vendor/', 'a part is refused'])
    t.match(page, said);
  t.match(page, '<span class="del">-old</span>\n<span class="add">+new</span>');
  t.match(
    page,
    `12 more lines are left out. This shows all:</p><pre><code><bdi>git diff ${committed.baseCommit} ${committed.decision?.commitSha}`,
  );
  t.match(page, 'No waiver was used.');
  const kept = 'Content with a date is kept until then';
  t.match(page, kept);
  const unlimited = committed.artifacts.filter(({ expiresAt }) => expiresAt === undefined);
  t.notMatch(renderRunHtml({ ...committed, artifacts: unlimited }, audit), kept);
  const waiver = 'the waiver of `sast` in `src/**` by ana was used, until 2026-12-31: old code';
  const waived = renderRunHtml({ ...committed, notices: [waiver, 'sealed, not landed'] }, audit);
  t.match(waived, '2 people approved; 1 waiver was used.');
  t.equal(waived.split('until 2026-12-31').length, 2, 'once');
  t.match(waived, 'sealed, not landed');
});

t.test(
  'a waiting run begins with its two commands, a refused one with its reason and findings',
  async (t) => {
    const page = renderRunHtml(waiting, { people: [signed] });
    const [card = ''] = page.split('<nav');
    t.match(card, /<h1 id="decision">Waiting<\/h1>.*1 of 2 people approved, 1 is missing/s);
    t.match(card, `writ approve ${waiting.runId}`);
    t.match(card, `writ resume ${waiting.runId}`);
    const refused = renderRunHtml(abandoned);
    t.match(
      refused,
      'Refused on 2026-03-04 09:30 UTC: the required check `unit` failed'.replaceAll('`', '&#96;'),
    );
    t.ok(refused.indexOf('id="findings"') < refused.indexOf('id="people"'));
  },
);

t.test('each finding is listed once, whichever stages report it', async (t) => {
  const [finding] = abandoned.findings;
  const stages = abandoned.stages.map((stage) => ({ ...stage, findings: finding ? [finding] : [] }));
  const page = renderRunHtml({ ...abandoned, stages });
  t.equal(page.split('no direct execution').length, 2);
});

t.test('a page of 1,000 checks and findings stays bounded and reports what it leaves out', async (t) => {
  const page = renderRunHtml(huge);
  t.ok(page.length < 1_000_000, `${page.length} characters`);
  t.match(page, 'and 800 beyond these');
  t.match(page, 'and 500 more');
  t.match(page, '<details><summary>998 checks passed</summary>');
  t.ok(page.indexOf('check-0507') < page.indexOf('998 checks passed'), 'what failed is in view');
  const loud = {
    ...huge,
    findings: huge.findings.map((finding) => ({ ...finding, message: 'm'.repeat(100_000) })),
  };
  t.ok(renderRunHtml(loud).length < 2_000_000);
});

const named = existsSync(chromium) ? false : `no browser at ${chromium}`;

long('the page works in a real browser', { skip: named }, async (t) => {
  const { chromium: engine } = await import('playwright-core');
  const browser = await engine.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  const dir = t.testdir({});
  const views = { committed, abandoned, hostile, huge, waiting };
  const audits: Readonly<Record<string, RunAudit>> = { committed: audit, hostile: hostileAudit };

  for (const [name, view] of Object.entries(views)) {
    await t.test(`the ${name} page fits 375 px and 1280 px`, async (t) => {
      const file = join(dir, `${name}.html`);
      writeFileSync(file, renderRunHtml(view, audits[name]));
      const { page, told, asked } = await open(browser, file, 375);
      for (const width of [375, 1280]) {
        await page.setViewportSize({ width, height: 812 });
        const seen = await ask<Seen>(page, 'look()');
        t.ok(seen.scrollWidth <= width, `no horizontal scroll at ${width}, found ${seen.scrollWidth}`);
        t.ok(
          seen.decisionTop >= 0 && seen.decisionTop < (name === 'hostile' ? 400 : 150),
          `decision at ${seen.decisionTop}`,
        );
        t.equal(seen.headings[0], 'H1');
        t.equal(seen.headings.filter((tag) => tag === 'H1').length, 1);
        t.equal(seen.pwned, undefined);
        t.strictSame(seen.foreign, [], 'no element of the author’s making');
      }
      t.strictSame(told, [], 'the console is empty');
      t.strictSame(asked, [pathToFileURL(file).href], 'nothing else is loaded');
      await page.close();
    });
  }

  await t.test('the page has landmarks, headings, table headers and accessible names', async (t) => {
    const { page } = await open(browser, join(dir, 'committed.html'), 1280);
    for (const role of ['banner', 'main', 'navigation', 'contentinfo'] as const)
      t.equal(await page.getByRole(role).count(), 1, role);
    t.equal((await page.getByRole('columnheader', { name: 'Outcome' }).count()) > 0, true);
    for (const table of await page.getByRole('table').all()) t.ok(await table.getAttribute('aria-label'));
    t.strictSame(await violations(page), [], 'axe');
    for (const name of [
      'People',
      'What was asked for',
      'Checks',
      'Evidence',
      'Policy, seal and log',
      'Commands that show more',
    ]) {
      t.equal(await page.getByRole('heading', { name, level: 2 }).count(), 1, name);
    }
    await page.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    await t.test(`text has enough contrast in the ${colorScheme} colour scheme`, async (t) => {
      for (const name of ['committed', 'abandoned']) {
        const { page } = await open(browser, join(dir, `${name}.html`), 1280, colorScheme);
        const all = await ask<readonly Contrast[]>(page, 'contrasts()');
        t.ok(all.length > 50);
        t.strictSame(
          all.filter(({ ratio }) => ratio < 4.5),
          [],
          name,
        );
        await page.close();
      }
    });
  }

  await t.test('the page of a release fits, and its hostile names are text', async (t) => {
    const file = join(dir, 'release.html');
    writeFileSync(file, renderReleaseHtml(release));
    const { page, told, asked } = await open(browser, file, 375);
    for (const width of [375, 1280]) {
      await page.setViewportSize({ width, height: 812 });
      const seen = await ask<Seen>(page, 'look()');
      t.ok(seen.scrollWidth <= width, `no horizontal scroll at ${width}, found ${seen.scrollWidth}`);
      t.strictSame([seen.pwned, seen.foreign], [undefined, []]);
    }
    t.strictSame(await violations(page), []);
    t.strictSame([told, asked], [[], [pathToFileURL(file).href]]);
    await page.close();
  });

  await t.test('on paper nothing is folded, coloured text is black and no row is broken', async (t) => {
    const { page } = await open(browser, join(dir, 'huge.html'), 800, 'dark');
    await page.emulateMedia({ media: 'print' });
    const seen = await ask<Readonly<Record<'fixed' | 'folded', number>> & { body: string; row: string }>(
      page,
      `{
        fixed: [...document.querySelectorAll('*')].filter((one) => ['fixed', 'sticky'].includes(getComputedStyle(one).position)).length,
        folded: [...document.querySelectorAll('details > :not(summary)')].filter((one) => !one.checkVisibility({ contentVisibilityAuto: true })).length,
        body: getComputedStyle(document.body).color,
        row: getComputedStyle(document.querySelector('tbody tr')).breakInside,
      }`,
    );
    t.strictSame(seen, { fixed: 0, folded: 0, body: 'rgb(0, 0, 0)', row: 'avoid' });
    await page.close();
  });

  await t.test('the content security policy blocks injected scripts and styles', async (t) => {
    const file = join(dir, 'injected.html');
    const injected =
      '<script>window.pwned=1</script><img src=x onerror="window.pwned=1"><p style="color:red" id="styled">x</p><h1 id="decision">';
    writeFileSync(file, renderRunHtml(committed).replace('<h1 id="decision">', injected));
    const { page } = await open(browser, file, 375);
    t.equal((await ask<Seen>(page, 'look()')).pwned, undefined);
    t.not(
      await ask<string>(page, "getComputedStyle(document.getElementById('styled')).color"),
      'rgb(255, 0, 0)',
    );
    await page.close();
  });
});

async function open(
  browser: Browser,
  file: string,
  width: number,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<{ page: Page; told: string[]; asked: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 812 }, colorScheme });
  const told: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => told.push(message.text()));
  page.on('pageerror', (fault) => told.push(fault.message));
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  return { page, told, asked };
}
