import t from 'tap';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { openBrowser, openTab, violations, withoutBrowser } from './open-browser.ts';
import { servePage, toldSession } from './serve-page.ts';

const bad = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202egnp.exe\u001b[2J';

t.test('the page of a session', { skip: withoutBrowser }, async (t) => {
  const browser = await openBrowser();

  await t.test('a message is sent, and its reply is shown while it streams', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.locator('#composer').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('/ask What does');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('price do?');
    await page.keyboard.press('Enter');
    await page.getByText('You have control').waitFor();
    await page.locator('.entry-user_message').first().waitFor();
    t.equal(await page.locator('#composer').inputValue(), '', 'what was taken is gone from the composer');
    await session.report({ type: 'replying', id: 'm', text: 'It adds ' });
    await page.getByText('It adds').waitFor();
    await session.report({ type: 'replied', id: 'm', text: 'It adds a cent.' }, { type: 'end', end: 'done' });
    await page.getByText('It adds a cent.').waitFor();
    t.equal(session.channel.state.transcript[0]?.content, '/ask What does\nprice do?');
    await page.locator('.state-idle').waitFor();
    t.strictSame(tab.wrongs, []);
  });

  await t.test('hostile text in replies, paths, diffs and options is shown as text', async (t) => {
    const session = toldSession(t);
    const { baseUrl } = await servePage(t, session);
    await session.say(bad.replace(/\p{Cc}/gu, ''));
    await session.report(
      {
        type: 'replied',
        id: 'm',
        text: `# ${bad}\n\n[a](javascript:window.pwned=1) ${bad}\n\n\`\`\`js\n${bad}\n\`\`\``,
      },
      { type: 'tool', id: 'c', toolName: bad, status: 'completed', summary: bad },
      {
        type: 'patched',
        patchset: {
          id: bad,
          status: 'proposed',
          changes: [{ path: bad, changeType: bad, diff: `@@ ${bad}\n+${bad}` }],
        },
      },
      { type: 'noted', id: 'n', title: bad, text: bad },
      {
        type: 'ask',
        subject: 's',
        kind: 'request_user_input',
        title: bad,
        metadata: {
          questions: [{ id: 'q', prompt: bad, kind: 'single', options: [{ id: '1', label: bad }] }],
        },
      },
    );
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.locator('section.card').waitFor();
    for (const pane of ['Workflow', 'Diff', 'Terminal', 'Summary', 'Threads', 'Graph']) {
      await page.getByRole('tab', { name: pane }).click();
      await page.locator('[role=tabpanel]').waitFor();
      const found = await page.evaluate(
        '[document.querySelectorAll("#page img, #page script, #page a[href^=javascript]").length, window.pwned]',
      );
      t.strictSame(found, [0, undefined], pane);
      const text = await page.locator('body').innerText();
      t.notMatch(text, /[\u202e\u001b]/, 'what hides is named');
      t.match(text, /\\u\{202e\}/);
    }
    t.strictSame(tab.wrongs, []);
  });

  await t.test('an approval shows what is proven and survives a reload with the typed text', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.locator('#composer').fill('Go.');
    await page.keyboard.press('Enter');
    await page.locator('.control-mine').waitFor();
    await session.report({
      type: 'ask',
      subject: 'consent 1',
      kind: 'approval',
      title: 'Run a dangerous command',
      metadata: {
        command: 'rm -rf $A',
        verdict: 'dangerous',
        reason: 'it removes files',
        segments: [
          {
            text: 'rm -rf $A',
            words: [{ text: 'rm' }, { text: '-rf' }, { text: '$A', isKnown: false }],
            verdict: 'dangerous',
            rule: 'removes',
            why: 'it removes files',
          },
        ],
        unproven: ['the value of `$A`'],
        cwd: '/w',
        branch: 'main',
        reuse: { approve_session: 'exactly this', allow_all_commands: 'every command' },
      },
    });
    const card = page.locator('section.card');
    await card.getByRole('heading', { name: 'Run a dangerous command' }).waitFor();
    t.match(
      await page.locator('[aria-live=polite]').innerText(),
      /A question waits: Run a dangerous command/,
    );
    t.equal(await page.evaluate('document.activeElement?.id'), 'composer', 'it takes no focus');
    t.match(await card.innerText(), /Cannot prove the value of \$A/);
    t.equal(await card.locator('.unknown').innerText(), '$A?');
    await page.locator('#composer').fill('half a sentence');
    await page.reload();
    await card.waitFor();
    await page.locator('.control-mine').waitFor();
    t.equal(
      await page.locator('#composer').inputValue(),
      'half a sentence',
      'nothing that was typed is lost',
    );
    await page.locator('section.card:not(.fresh)').waitFor();
    await page.locator('h1').click();
    await page.keyboard.press('q');
    await page.keyboard.press('A');
    t.equal(
      session.channel.state.interactions.at(-1)?.status,
      'pending',
      'a key shows what it would choose first',
    );
    await page.keyboard.press('A');
    await card.getByRole('button', { name: 'Yes, approve every command' }).waitFor();
    t.equal(session.channel.state.interactions.at(-1)?.status, 'pending', 'everything wants a second word');
    await page.locator('section.card:not(.fresh)').waitFor();
    await page.locator('h1').click();
    await page.keyboard.press('q');
    await page.keyboard.press('n');
    await card.waitFor({ state: 'detached' });
    t.match(session.channel.state.interactions.at(-1), { status: 'resolved' });
    t.strictSame(tab.wrongs, []);
  });

  await t.test('a completed task and a committed run have an undo button', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session);
    const run = '0196a3c0-2222-7000-8000-000000000002';
    await session.say('Go.');
    await session.report(
      {
        type: 'planned',
        plan: { id: 'p', status: 'running', steps: [{ id: '1', step: 's', status: 'pending' }] },
      },
      { type: 'tasked', task: { id: `${run}/task-1`, title: 'task-1', status: 'failed' } },
      { type: 'tasked', task: { id: `${run}/task-2`, title: 'task-2', status: 'completed' } },
      {
        type: 'noted',
        id: 'n',
        title: 'Committed',
        text: 'done',
        outcome: { runId: run, decision: 'commit', why: 'all passed', commit: 'c'.repeat(40) },
      },
      { type: 'end', end: 'done' },
    );
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.getByRole('tab', { name: 'Workflow' }).click();
    await page.getByRole('listitem').filter({ hasText: 'task-2' }).waitFor();
    const undo = page.getByRole('button', { name: /^Undo/ });
    t.strictSame(await undo.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))), [
      'Undo task-2',
    ]);
    await undo.click();
    await page.locator('.entry-user_message').nth(1).waitFor();
    t.equal(session.channel.state.transcript.at(-1)?.content, `/undo ${run} task-2`);
    t.ok(await undo.isDisabled(), 'not while a turn runs');
    await session.report({ type: 'end', end: 'done' });
    await page.getByRole('tab', { name: 'Summary' }).click();
    await page.getByRole('button', { name: 'Undo this run' }).click();
    await page.locator('.entry-user_message').nth(2).waitFor();
    t.equal(session.channel.state.transcript.at(-1)?.content, `/undo ${run}`);
    t.strictSame(tab.wrongs, []);
  });

  await t.test('a page without permission to control says so and shows no composer', async (t) => {
    const session = toldSession(t, { attachable: [] });
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.getByText('--browser-control loopback').first().waitFor();
    t.equal(await page.getByRole('button', { name: 'Take control' }).count(), 0);
    t.notOk(await page.locator('#composer').isVisible(), 'nothing that is typed would go anywhere');
    t.strictSame(tab.wrongs, []);
  });
});

long(
  'files that are chosen, dropped or pasted go with the next message',
  { skip: withoutBrowser },
  async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(await openBrowser(), baseUrl);
    const { page } = tab;
    await page.locator('#composer').waitFor();
    const chips = page.locator('.attached li');
    const text = (name: string, size: number) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.alloc(size, 'log line\n'),
    });
    const choose = (...files: readonly ReturnType<typeof text>[]) =>
      page.locator('input[type=file]').setInputFiles([...files]);
    /** A transfer of what a person drops or pastes, which no keyboard of a test has. */
    const give = (event: 'drop' | 'paste', script: string) =>
      page.evaluate(`(() => {
      const data = new DataTransfer();
      ${script};
      const how = { bubbles: true, cancelable: true };
      document.querySelector('#composer').dispatchEvent('${event}' === 'drop'
        ? new DragEvent('drop', { ...how, dataTransfer: data })
        : new ClipboardEvent('paste', { ...how, clipboardData: data }));
    })()`);
    await choose(text('a long.log', 700_000));
    await chips.getByText('a long.log').waitFor();
    await page.locator('.control-mine').waitFor();
    await give('drop', "data.items.add(new File(['dropped words'], 'notes.txt'))");
    await chips.getByText('notes.txt').waitFor();
    await give('paste', "data.setData('text/plain', 'pasted words '.repeat(1000))");
    await chips.getByText('pasted.txt').waitFor();
    t.equal(await page.locator('#composer').inputValue(), '', 'a long paste is attached');
    await give('paste', "data.items.add(new File([new Uint8Array([0, 1, 2])], 'a.bin'))");
    await page.locator('.hint.bad').getByText('`a.bin` is neither text in UTF-8').waitFor();
    await choose(text('big.txt', 1024 * 1024 + 1));
    await page.locator('.hint.bad').getByText('`big.txt` has 1048577 octets').waitFor();
    await choose(text('empty.txt', 0));
    await page.locator('.hint.bad').getByText('empty.txt is empty').waitFor();
    t.equal(await chips.count(), 3);
    t.strictSame(await violations(page), []);
    await page.getByRole('button', { name: 'Remove notes.txt' }).click();
    await page.locator('#composer').fill('What went wrong?');
    await page.keyboard.press('Enter');
    await until(() => session.channel.state.transcript.length > 0);
    t.match(session.channel.state.transcript[0]?.metadata.attachments, [
      { name: 'a long.log', mediaType: 'text/plain', bytes: 700_000 },
      { name: 'pasted.txt', bytes: 13_000 },
    ]);
    await chips.first().waitFor({ state: 'detached' });
    t.strictSame(tab.wrongs, []);
  },
);
