import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import { readDraft } from '../../../engine/draft/stored-draft.ts';
import { type Attachment, withImagePaths } from '../../../session/thread/attachments.ts';
import { threadDirectory } from '../../../session/thread/open-thread.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { priceDraft, submits } from '../../agent/planner/drafts.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** What came with the first message. */
function attached({ channel }: ScriptedSession['session']) {
  const said = channel.state.transcript.find(({ kind }) => kind === 'user_message');
  return (said?.metadata.attachments ?? []) as readonly Attachment[];
}

t.test('a message that is too long is attached as a whole, and its draft names it by digest', async (t) => {
  const key = `ghp_${'0Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx'}`;
  const log = Array.from(
    { length: 9000 },
    (_, at) => `line ${at} of the log${at === 200 ? ` ${key}` : ''}`,
  ).join('\n');
  await using scene = await scriptSession([
    { calls: [['read_file', { path: 'attachment:message.txt', from_line: 5000, lines: 1 }]] },
    submits(priceDraft),
  ]);
  const { session, model, sample } = scene;
  await scene.say(`Make prices exact. The log:\n${log}\nThat is all.`);
  const review = await scene.asked('intent_review_choice');
  const [first, second] = model.asked.map(({ body }) => JSON.stringify(body));
  t.match(first, 'Make prices exact.');
  t.match(first, 'That is all.');
  t.match(first, /The text \\"message\.txt\\" \(user-provided, sha256 [0-9a-f]{64}\)/);
  t.match(first, '<untrusted>');
  t.ok((first ?? '').length < 100_000, 'an excerpt of it');
  t.match(second, 'line 4998 of the log', 'the rest is read');
  t.notMatch(`${first}${second}`, key);
  const said = attached(session);
  t.match(said, [{ name: 'message.txt', origin: 'user-provided', mediaType: 'text/plain' }]);
  const sha256 = said[0]?.sha256 ?? '';
  const repository = await openRepository(sample.root);
  const kept = join(threadDirectory(repository, session.threadId), 'attachments', sha256);
  t.match(readFileSync(kept, 'utf8'), 'line 8999 of the log');
  const draft = readDraft(repository, String(review.metadata.runId));
  t.match(Buffer.from(draft?.specBytes ?? []).toString(), sha256);
});

t.test('`@file` attaches a file that differs from HEAD, and no ignored one', async (t) => {
  await using scene = await scriptSession([{ text: 'Seen.' }]);
  const { model, sample, session } = scene;
  writeFileSync(join(sample.root, 'notes.txt'), 'NEW-NOTES');
  writeFileSync(join(sample.root, '.gitignore'), 'private.txt\n');
  writeFileSync(join(sample.root, 'private.txt'), 'IGNORED-WORDS');
  await scene.say(
    'Compare @notes.txt and @src/price.js with @types/node, @src/util, @media and `@src/gone.js`.',
  );
  await scene.ended();
  t.equal(session.channel.state.status, 'idle', lastNote(session));
  const body = JSON.stringify(model.asked[0]?.body);
  t.match(body, /notes\.txt\\" \(uncommitted, sha256 /);
  t.match(body, 'NEW-NOTES');
  t.notMatch(body, 'IGNORED-WORDS');
  const said = attached(session);
  t.match(said, [{ name: 'notes.txt', origin: 'uncommitted' }]);
  t.equal(said.length, 1, 'a committed file is read from HEAD');
});

t.test('what `@path` cannot attach is refused with the reason, before anything is sent', async (t) => {
  await using scene = await scriptSession([{ text: 'Seen.' }]);
  const { sample, session, model } = scene;
  const outside = t.testdir({ 'notes.txt': 'OUTSIDE', 'fake.png': 'no image', 'dot.png': png });
  writeFileSync(join(sample.root, '.gitignore'), 'private.txt\n');
  writeFileSync(join(sample.root, 'private.txt'), 'IGNORED-WORDS');
  symlinkSync(join(outside, 'dot.png'), join(sample.root, 'link.png'));
  const refusals: readonly (readonly [path: string, why: RegExp])[] = [
    [
      'private.txt',
      /`@private\.txt` is not attached: Git ignores it, so it may hold secrets\. Paste the part/,
    ],
    ['.git/config', /writ shows no file of Git to a model/],
    ['link.png', /it is a link that leads out of the repository\. Name the file/],
    ['gone.png', /there is no such file\. Correct the path, or put it in backticks to send it as words\./],
    ['src/gone.js', /there is no such file/],
    ['../gone.txt', /there is no such file/],
    [join(outside, 'gone.webp'), /there is no such file/],
    [
      join(outside, 'notes.txt'),
      /it is outside the repository, and no PNG, JPEG or WebP image\. Paste or pipe/,
    ],
    [join(outside, 'fake.png'), /it is outside the repository, and no PNG/],
    [outside, /it cannot be read as a file/],
  ];
  for (const [path, message] of refusals)
    await t.rejects(scene.say(`What is @${path}?`), { code: 'REQUEST_INVALID', message }, path);
  t.same(session.channel.state.transcript, [], 'nothing was sent');
  t.equal(model.asked.length, 0);
});

t.test('a person attaches an image from anywhere, also by its bare path', async (t) => {
  await using scene = await scriptSession(Array.from({ length: 9 }, () => ({ text: 'A dot.' })));
  const { sample, session } = scene;
  const outside = t.testdir({ 'my dot.png': png, 'dot.png': png, 'notes.txt': 'OUTSIDE' });
  const [plain, spaced] = [join(outside, 'dot.png'), join(outside, 'my dot.png')];
  mkdirSync(join(sample.root, '.writ', 'commands'), { recursive: true });
  writeFileSync(
    join(sample.root, '.writ', 'commands', 'see.md'),
    `Look at @${plain}, @src/gone.js and $ARGUMENTS`,
  );
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Add a command');
  await scene.say('/model gpt-6.1-sol');
  const escaped = spaced.replaceAll(' ', '\\ ');
  const attach: readonly (readonly [words: string, names: readonly string[]])[] = [
    [`What is @${plain}?`, [plain]],
    [
      `What is @../${relative(join(sample.root, '..'), plain)} here`,
      [`../${relative(join(sample.root, '..'), plain)}`],
    ],
    [`See @"${spaced}".`, [spaced]],
    [`See @${escaped}`, [spaced]],
    [`${plain} ${escaped} what are they?`, [plain, spaced]],
    [`What is '${spaced}' or ${plain}?`, [spaced, plain]],
    [`A log:\n${plain}`, []],
    [`/see nothing`, []],
    [`/see @${plain}`, [plain]],
  ];
  for (const [words, names] of attach) {
    await scene.say(words);
    await scene.ended();
    const said = session.channel.state.transcript.findLast(({ kind }) => kind === 'user_message');
    const came = (said?.metadata.attachments ?? []) as readonly Attachment[];
    t.same(
      came.map(({ name }) => name),
      names,
      words,
    );
    t.ok(
      came.every(
        ({ origin, mediaType, bytes }) =>
          origin === 'user-provided' && mediaType === 'image/png' && bytes === png.length,
      ),
    );
  }
});

t.test('a path in a command, or of no image, stays as it is', async (t) => {
  const outside = t.testdir({ 'dot.png': png, 'fake.png': 'no image' });
  const path = join(outside, 'dot.png');
  for (const text of [
    `!ls ${path}`,
    `/goal start see ${path}`,
    `see ${path}\nnow`,
    `see ${outside}/fake.png`,
    `x${path}`,
  ])
    t.equal(await withImagePaths(text), text);
  t.equal(await withImagePaths(`/ask what is ${path}?`), `/ask what is @${path}?`);
});

t.test('an upload arrives piece by piece, and a message names it by digest', async (t) => {
  await using scene = await scriptSession([{ text: 'Seen.' }]);
  const { session, model } = scene;
  const { uploads, channel } = session;
  const send = (name: string, bytes: Buffer, size = 1000) => {
    let last: ReturnType<typeof uploads.take> = { received: 0 };
    for (let at = 0; at < bytes.length; at += size) {
      const data = bytes.subarray(at, at + size).toString('base64');
      last = uploads.take({ name, at, of: bytes.length, data });
    }
    return last.sha256 ?? '';
  };
  const log = send('log.txt', Buffer.from('UPLOADED-WORDS ä\n'.repeat(500)));
  const dot = send('dot.png', png);
  const given = [
    { name: 'log.txt', sha256: log },
    { name: 'dot.png', sha256: dot },
  ];
  const submit = (some: typeof given) =>
    channel.send({ type: 'submit', text: '/ask What is it?', given: some, proof: { from: 'local' } });
  await submit(given.slice(0, 1));
  await scene.ended();
  t.match(JSON.stringify(model.asked[0]?.body), 'UPLOADED-WORDS');
  t.match(attached(session), [
    { name: 'log.txt', origin: 'user-provided', mediaType: 'text/plain', bytes: 9000 },
  ]);
  await submit(given);
  await scene.ended();
  t.match(lastNote(session), /does not accept images, so `dot\.png` was not sent/);
  await t.rejects(submit([{ name: 'x', sha256: 'f'.repeat(64) }]), { message: /attach it again/ });
  t.throws(() => send('a.pdf', Buffer.from('%PDF\0')), { code: 'REQUEST_INVALID', message: /a\.pdf/ });
  t.throws(() => send('latin.txt', Buffer.from([0x61, 0xe4])), { message: /neither text in UTF-8/ });
  t.throws(() => send('big.txt', Buffer.alloc(1024 * 1024 + 1, 'a'), 200_000), { message: /big\.txt/ });
  const huge = 5 * 1024 * 1024 + 1;
  t.throws(() => uploads.take({ name: 'huge.png', at: 0, of: huge, data: 'aaaa' }), { message: /huge/ });
  uploads.take({ name: 'b', at: 0, of: 9, data: 'aaaa' });
  const wrong = [
    { name: 'b', at: 0, of: 2, data: 'aaaa' },
    { name: 'b', at: 6, of: 9, data: 'aaaa' },
    { name: 'c', at: 3, of: 9, data: 'aaaa' },
  ];
  for (const piece of wrong) t.throws(() => uploads.take(piece), { message: /does not follow/ });
  for (let at = 0; at < 10; at += 1) send(`${at}.txt`, Buffer.from(`${at}`));
  t.throws(() => uploads.find(log), { message: /not there any more/ }, 'only the last ten are kept');
});

t.test('an image goes to a model that takes images, and is refused by name elsewhere', async (t) => {
  await using scene = await scriptSession([{ text: 'A dot.' }, { text: 'Still a dot.' }]);
  const { model, sample, session } = scene;
  writeFileSync(join(sample.root, 'dot.png'), png);
  await scene.say('What is in @dot.png?');
  await scene.ended();
  t.match(
    lastNote(session),
    /UNSUPPORTED_OPERATION: the model `scripted` does not accept images, so `dot\.png` was not sent/,
  );
  t.equal(model.asked.length, 0);
  await scene.say('/model gpt-6.1-sol');
  await scene.say('What is in @dot.png?');
  await scene.ended();
  t.equal(session.channel.state.status, 'idle', lastNote(session));
  const sent = `data:image/png;base64,${png.toString('base64')}`;
  t.match(JSON.stringify(model.asked[0]?.body), sent);
  t.equal(JSON.stringify(model.asked[0]?.body).split(sent).length, 2, 'once');
  t.notMatch(JSON.stringify(session.channel.state.dialogue), 'base64', 'the conversation holds no image');
  await scene.say('And which colour has it?');
  await scene.ended();
  const later = JSON.stringify(model.asked[1]?.body);
  t.match(later, sent, 'it goes with later messages, too');
  t.match(later, /The image \\"dot\.png\\" \(.*\) of an earlier message is attached/);
  writeFileSync(join(sample.root, 'huge.png'), Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]));
  await t.rejects(scene.say('And @huge.png?'), { code: 'REQUEST_INVALID', message: /huge\.png/ });
});

t.test('an image that comes with a message is attached by what it is, not by its name', async (t) => {
  await using scene = await scriptSession([{ text: 'Seen.' }]);
  const { channel } = scene.session;
  const submit = (data: string) =>
    channel.send({
      type: 'submit',
      text: 'What is that?',
      given: [{ name: 'image-1', data }],
      proof: { from: 'local' },
    });
  await t.rejects(submit(Buffer.from('GIF89a').toString('base64')), { code: 'REQUEST_INVALID' });
  await t.rejects(submit(Buffer.concat([png, Buffer.alloc(6 * 1024 * 1024)]).toString('base64')), {
    message: /octets, and at most/,
  });
  await submit(png.toString('base64'));
  await scene.ended();
  t.match(attached(scene.session), [
    { name: 'image-1', mediaType: 'image/png', origin: 'user-provided', bytes: png.length },
  ]);
});
