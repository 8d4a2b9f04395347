import t from 'tap';
import { describeApproval } from '../../../session/approvals/describe-approval.ts';
import { textOf } from '../../../session/screen/line.ts';
import type { Diagnostics } from '../../../session/screen/session-door.ts';
import type { ServeSetting } from '../../../session/serve/serve-session.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { statusLines } from '../../../session/tui/show/show-local.ts';
import { toolUse } from '../approvals/use-of.ts';
import { plan, planChoice, request, run } from '../scenes/scene-texts.ts';
import { scenes } from '../scenes/scenes.ts';
import { withoutBrowser } from './open-browser.ts';
import { openSources } from './open-sources.ts';
import { servePage, toldSession } from './serve-page.ts';

const skip = withoutBrowser;

type ServedAbout = Partial<ServeSetting['about']>;

const undoing = '01a2071a-2222-7222-8222-222222222222';
const committed = (runId: string, why: string) => ({
  runId,
  decision: 'commit' as const,
  why,
  commit: '0123456789abcdef0123456789abcdef01234567',
});

t.test(
  'Escape focuses the question first, and only two presses in a row stop the turn',
  { skip },
  async (t) => {
    const session = toldSession(t, { local: 'none' });
    await using tab = await openSources(t, session);
    const { page } = tab;
    await page.clock.install();
    const stops: string[] = [];
    page.on('request', (asked) => asked.url().endsWith('control/cancel') && stops.push(asked.url()));
    const composer = page.locator('#composer');
    await composer.fill('Go.');
    await composer.press('Enter');
    await page.locator('.control-mine').waitFor();
    const { kind, title, metadata } = {
      kind: 'post_plan_choice',
      title: 'Prices',
      metadata: planChoice,
    } as const;
    await session.report({ type: 'ask', subject: 's', kind, title, metadata });
    await page.locator('#composer-hint').getByText('Esc goes there').waitFor();
    await composer.press('Escape');
    await page.locator('section.card:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#composer-hint').getByText('Esc once more stops this turn').waitFor();
    await page.keyboard.press('Shift');
    await page.keyboard.press('Escape');
    await page.locator('#composer-hint').getByText('Esc once more stops this turn').waitFor();
    await page.clock.runFor(3100);
    await page.locator('#composer-hint').getByText('Esc goes there').waitFor();
    await page.keyboard.press('Escape');
    t.strictSame(stops, []);
    const stopped = page.waitForRequest('**/control/cancel');
    await page.keyboard.press('Escape');
    await stopped;
    t.equal(stops.length, 1);
    t.strictSame(tab.wrongs, []);
  },
);

t.test('`/help` lists commands and keys and is not sent to the session', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  await using tab = await openSources(t, session);
  const { page } = tab;
  await page.locator('#composer').fill('/help');
  await page.locator('#composer').press('Enter');
  const help = page.getByRole('region', { name: 'Commands and keys' });
  t.match(await help.innerText(), /\/undo \[RUN\] \[TASK\].*stops the turn/s);
  t.equal(await page.locator('#composer').inputValue(), '');
  await help.getByRole('button', { name: 'Close' }).click();
  await help.waitFor({ state: 'detached' });
  t.equal(session.channel.state.transcript.length, 0);
});

t.test('a page that only watches says so once and offers no input', { skip }, async (t) => {
  const session = toldSession(t, { attachable: [] });
  await using tab = await openSources(t, session);
  const { page } = tab;
  await page.locator('.control-closed').waitFor();
  const questions = [{ id: 'q', prompt: 'Which one?', kind: 'text' }] as const;
  await session.say('Go.');
  await session.report({ type: 'ask', subject: 's', kind: 'request_user_input', metadata: { questions } });
  await page.locator('section.card').waitFor();
  const words = await page.locator('#page').innerText();
  t.notMatch(words, /say what shall change|what you write/i);
  t.equal(words.match(/only watches/g)?.length, 1, 'that it only watches is said once');
  t.equal(words.match(/--browser-control/g)?.length, 1);
  t.notOk(await page.locator('#composer').isVisible());
});

t.test('a different session at the same address is reported as different', { skip }, async (t) => {
  const session = toldSession(t, { threadId: 'thread-one', local: 'none' });
  await using tab = await openSources(t, session);
  const { page, served } = tab;
  await page.locator('#composer').waitFor();
  await served.away();
  await page.locator('.state-offline').waitFor();
  const port = Number(new URL(served.baseUrl).port);
  await servePage(t, toldSession(t, { threadId: 'thread-two', local: 'none' }), { port });
  await page
    .locator('.notice')
    .getByText(/thread thread-two\. .* writ code --resume thread-one goes on/)
    .waitFor();
  t.strictSame(tab.wrongs, []);
});

t.test(
  'a page regains control after a reload unless the terminal reclaimed the session',
  { skip },
  async (t) => {
    const session = toldSession(t);
    await using tab = await openSources(t, session);
    const { page } = tab;
    await page.getByRole('button', { name: 'Take control' }).click();
    await page.locator('.control-mine').waitFor();
    await page.reload();
    await page.locator('.control-mine').waitFor();
    await session.channel.send({ type: 'reclaim' });
    await page.locator('.control-terminal').waitFor();
    const asked: string[] = [];
    page.on('request', (one) => one.url().endsWith('controller/attach') && asked.push(one.url()));
    const known = page.waitForResponse('**/approvals');
    await page.reload();
    await known;
    await page.locator('.fact-sandbox').waitFor();
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    t.strictSame(asked, []);
    t.equal(session.channel.state.lease, undefined, 'what the terminal took back stays there');
  },
);

t.test(
  'an undone run is marked, and the reason of a refused undo is shown beside its button',
  { skip },
  async (t) => {
    const session = toldSession(t, { local: 'none' });
    await scenes.done(session);
    await using tab = await openSources(t, session);
    const { page } = tab;
    const undo = page.getByRole('button', { name: 'Undo task-1' });
    await undo.click();
    await page.locator('.state-thinking').waitFor();
    const why = '`src/list.js` was changed by hand since';
    await session.report({ type: 'noted', id: 'n', title: 'Undo', text: why }, { type: 'end', end: 'done' });
    await page.locator('.workflow .undo .bad').getByText('src/list.js was changed by hand since').waitFor();
    await undo.click();
    await page.locator('.state-thinking').waitFor();
    const outcome = committed(undoing, 'every gate passed');
    await session.report(
      { type: 'noted', id: 'o', title: 'Committed', text: 'done', outcome },
      { type: 'noted', id: 'u', title: 'Undo', text: `run ${undoing} takes back run ${run}` },
      { type: 'end', end: 'decided' },
    );
    await page.locator('.workflow').getByText('taken back').waitFor();
    const rows = page.locator('.workflow section[aria-labelledby=tasks-head] li');
    t.match(await rows.first().innerText(), plan.steps[0]?.step, 'a task says what it is for');
    t.equal(await undo.count(), 0);
    await page.getByRole('tab', { name: 'Summary' }).click();
    await page.locator('.summary').getByText(`It takes back ${run}.`).waitFor();
    t.match(await page.locator('.summary').innerText(), `writ verify ${undoing}`);
    t.strictSame(tab.wrongs, []);
  },
);

t.test(
  'a held change is not shown as committed, and rejecting a hunk prompts for a reason',
  { skip },
  async (t) => {
    const session = toldSession(t, { local: 'none' });
    await scenes.held(session);
    await session.report({
      type: 'noted',
      id: 'd',
      title: 'Committed',
      text: 'x',
      outcome: committed(run, 'passed'),
    });
    await using tab = await openSources(t, session);
    const { page } = tab;
    await page.getByRole('button', { name: 'Take control' }).first().click();
    await page.getByRole('tab', { name: 'Summary' }).click();
    await page.locator('.summary').getByText('no branch of yours has moved').waitFor();
    t.equal(await page.locator('.summary .outcome.good').count(), 0);
    t.equal(await page.getByRole('button', { name: 'Undo this run' }).count(), 0);
    const card = page.locator('section.card:not(.fresh)');
    await card.getByText('nothing of it is committed').waitFor();
    await card.getByText('Take out what is rejected').click();
    await card.getByRole('button', { name: 'Answer' }).click();
    await card.locator('.refused').getByText('no hunk is rejected').waitFor();
    await page.getByRole('button', { name: 'Look at the change' }).click();
    await page.getByRole('button', { name: 'Reject this hunk' }).first().click();
    await page.getByPlaceholder('why? The model gets the reason').waitFor();
    await page.keyboard.type('nobody asked for it');
    await page.keyboard.press('Enter');
    await page.locator('.hunk-review').getByText('nobody asked for it').waitFor();
    t.match(session.channel.state.reviews, [{ verdict: 'reject', comment: 'nobody asked for it' }]);
    t.equal(await card.locator('.refused').count(), 0, 'what was said against is not true any more');
    await session.report({ type: 'review-ended', end: 'discarded' });
    await page.getByText('Held for your review').waitFor({ state: 'detached' });
    t.strictSame(tab.wrongs, []);
  },
);

t.test('the page shows the work time of a turn and the next step of a blocked goal', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  await session.say(`/goal start ${request}`);
  await using tab = await openSources(t, session);
  const { page } = tab;
  const time = page.locator('.turn-time');
  await time.getByText(/^\d+s$/).waitFor();
  const goal = session.channel.state.goal?.id ?? '';
  const change = { status: 'blocked', blockReason: 'criterion_unverifiable' } as const;
  await session.report({ type: 'goal-moved', goal, change }, { type: 'end', end: 'done' });
  await time.getByText(/^worked \d+s$/).waitFor();
  await page.locator('.way-on').getByText('set one that a check can verify').waitFor();
  await page.getByRole('button', { name: 'Go on with it' }).click();
  await page.locator('.state-thinking').waitFor();
  t.equal(session.channel.state.goal?.status, 'active');
  t.strictSame(tab.wrongs, []);
});

t.test(
  'a failed gate lists its failed tests, and a file path with a line end is escaped',
  { skip },
  async (t) => {
    const session = toldSession(t, { local: 'none' });
    await session.say('Go.');
    const gate = {
      stage: 'fast',
      status: 'failed',
      ran: 1,
      expected: 1,
      failed: ['two cost <twice>'],
    } as const;
    await session.report({ type: 'noted', id: 'g', title: 'Gate fast', text: 'failed', gate });
    await using tab = await openSources(t, session);
    const { page } = tab;
    for (const place of ['.entry-info_note', '.workflow'])
      await page.locator(`${place} .failed-list`).getByText('two cost <twice>').waitFor();
    const change = { path: 'src/a\nb.js', changeType: 'modify', diff: '@@ -1,1 +1,1 @@\n-x\n+y\n' };
    await session.report({ type: 'patched', patchset: { id: 'p', status: 'proposed', changes: [change] } });
    await page.getByRole('tab', { name: 'Diff' }).click();
    t.equal(await page.locator('.file h3 code').innerText(), 'src/a\\nb.js', 'no name passes for another');
    t.strictSame(tab.wrongs, []);
  },
);

t.test('Enter sends a text answer, and Shift+Enter begins a new line', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  await session.say('Go.');
  const questions = [{ id: 'q', prompt: 'What shall the note say?', kind: 'text' }] as const;
  await session.report({ type: 'ask', subject: 's', kind: 'request_user_input', metadata: { questions } });
  await using tab = await openSources(t, session);
  const { page } = tab;
  await page.locator('section.card:not(.fresh)').waitFor();
  const field = page.getByLabel('What shall the note say?');
  await field.fill('Prices');
  await field.press('Shift+Enter');
  await field.pressSequentially('are exact.');
  await field.press('Enter');
  await page.locator('section.card').waitFor({ state: 'detached' });
  t.match(session.channel.state.interactions.at(-1), { status: 'resolved' });
});

t.test(
  'the page shows session policy, MCP servers and hooks in the words of `/status`',
  { skip },
  async (t) => {
    const session = toldSession(t, { local: 'none' });
    let state: 'not_started' | 'started' = 'not_started';
    const about: ServedAbout = {
      approvalPolicy: 'untrusted',
      policy: [{ key: 'mcp', value: ['notes'], from: '[session] of the repository' }],
      hooks: ['hook `end` of the policy commit (`end.sh`)'],
      mcp: async () => ({
        servers: [
          { server: 'notes', from: 'policy', state, endpoint: 'e', reach: 'no network, no files', tools: [] },
        ],
        uncommitted: ['mcp.other'],
      }),
    };
    await using tab = await openSources(t, session, {}, { about });
    const { page } = tab;
    await page.getByRole('tab', { name: 'Summary' }).click();
    const rows = page.locator('section[aria-labelledby=status-head] dl > div');
    const inForce = async () => {
      const diagnostics = await (await fetch(`${tab.served.baseUrl}/api/code/diagnostics`)).json();
      return statusLines(toSnapshot(session.channel.state), diagnostics as Diagnostics)
        .map((line) => textOf(line).trim().replace(/ {2,}/g, ' '))
        .filter((line) => /^(?:approvals|mcp|policy|hook) /.test(line));
    };
    const shown = async () => (await rows.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' '));
    await rows.filter({ hasText: 'not started, of the policy configuration' }).waitFor();
    t.equal((await inForce()).length, 4);
    t.strictSame(
      (await shown()).filter((row) => /^(?:approvals|mcp|policy|hook) /.test(row)),
      await inForce(),
    );
    state = 'started';
    await session.say('Go.');
    await session.report({ type: 'end', end: 'done' });
    await rows.filter({ hasText: /notes\s*started, of the policy/ }).waitFor();
    t.strictSame(
      (await shown()).filter((row) => /^(?:approvals|mcp|policy|hook) /.test(row)),
      await inForce(),
    );
    await page.locator('#composer').fill('/mcp');
    await page.locator('#composer').press('Enter');
    const list = page.getByRole('region', { name: 'MCP servers' });
    await list.waitFor();
    t.match(await list.innerText(), /notes\s+started, of the policy configuration · no network, no files/);
    t.match(
      await list.innerText(),
      /not in force\s+\[mcp\.other\] of \.writ\/config\.toml differs from HEAD/,
    );
    t.equal(await page.locator('#composer').inputValue(), '');
    t.strictSame(tab.wrongs, []);
  },
);

t.test('the page marks the images of a message and shows the arguments of a call', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  const image = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(12_337)]);
  const name = '../pictures/logo.png';
  const piece = { name, at: 0, of: image.length, data: image.toString('base64') };
  const { sha256 = '' } = session.uploads.take(piece);
  await session.channel.send({
    type: 'submit',
    text: 'What is it?',
    given: [{ name, sha256 }],
    proof: { from: 'local' },
  });
  const use = toolUse({
    tool: 'mcp.tickets.get',
    action: 'call',
    query: 'declaration sha256:ab; Reads',
    arguments: '{"id":7,"x":"a\u202eb"}',
  });
  const question = describeApproval(use, {
    why: 'it is a tool of an MCP server',
    ttlSeconds: 300,
    mask: (one) => one,
  });
  await session.report({ type: 'ask', subject: 's', ...question });
  await using tab = await openSources(t, session);
  const { page } = tab;
  await page.getByText('[image logo.png 12 kB]').waitFor();
  t.equal(await page.getByLabel('Arguments of the call').innerText(), String.raw`{"id":7,"x":"a\u{202e}b"}`);
  t.strictSame(tab.wrongs, []);
});

t.test('the graph of the page draws the forks of a thread', { skip }, async (t) => {
  const session = toldSession(t);
  const node = (id: string, tag: string, detail: string) => ({
    id: `thread ${id}`,
    kind: 'thread' as const,
    label: `thread ${id}`,
    tags: [tag],
    detail,
  });
  await using tab = await openSources(
    t,
    session,
    {},
    {
      graph: async (thread_id) => ({
        thread_id,
        title: 'x',
        nodes: [node('0a', 'this-one', ''), node('0b', 'fork', 'forked from thread 0a before entry 0c')],
        edges: [{ from: 'thread 0a', to: 'thread 0b', kind: 'fork' }],
      }),
    },
  );
  const { page } = tab;
  await page.getByRole('tab', { name: 'Graph' }).click();
  await page.locator('.drawing .node-thread').nth(1).waitFor();
  t.equal(await page.locator('.drawing path').count(), 1);
  await page.locator('.graph li').filter({ hasText: '0b' }).locator('summary').click();
  await page.getByText('forked from thread 0a before entry 0c').waitFor();
  t.strictSame(tab.wrongs, []);
});
