import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { statusLines } from '../../../session/tui/show/show-local.ts';
import { makeSample, type Sample } from '../../engine/sample.ts';
import { lastNote, scriptSession } from './scripted-session.ts';

function commit({ root, git }: Sample, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  git('add', '--all');
  git('commit', '--quiet', '-m', 'Files');
}

t.test('commands and skills from committed files are words with arguments', async (t) => {
  const sample = makeSample();
  commit(sample, {
    '.writ/commands/explain.md': '---\ndescription: Explains\n---\nExplain $1 in $2. All: $ARGUMENTS.\n',
    '.writ/commands/model.md': 'never reached',
    '.claude/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: Tidies\n---\nHow to tidy.\n',
  });
  writeFileSync(join(sample.root, '.writ', 'commands', 'later.md'), 'not committed');
  const userDirectory = t.testdir({
    commands: { 'mine.md': 'Mine.', 'explain.md': 'hidden by the one of the repository' },
  });
  const answers = ['one', 'two', 'three'].map((text) => ({ text }));
  await using scene = await scriptSession(answers, { userDirectory }, sample);
  const { model, session } = scene;
  for (const said of ['/explain price words', '/tidy src', '/mine']) {
    await scene.say(said);
    await scene.ended();
    t.equal(session.channel.state.status, 'idle', lastNote(session));
  }
  const bodies = model.asked.map(({ body }) => JSON.stringify(body));
  t.match(bodies[0], 'Explain price in words. All: price words.');
  t.match(bodies[1], /How to tidy\.\\n\\nsrc/);
  t.match(bodies[2], 'Mine.');
  const [first] = session.channel.state.transcript;
  t.match(first?.content, /^Command \/explain \(\.writ\/commands\/explain\.md, sha256 [0-9a-f]{12}\):/);
  await t.rejects(scene.say('/later'), { code: 'UNSUPPORTED_OPERATION' }, 'the working tree does not count');
  await scene.say('/model gpt-6.1-sol');
  t.equal(session.channel.state.settings.model, 'gpt-6.1-sol', 'a command of writ comes first');
});

t.test('`/status` names the instruction files and notes that the model got, by digest', async (t) => {
  const sample = makeSample();
  const notes = 'Prices are whole cents.\n';
  commit(sample, { 'AGENTS.md': 'Use tabs.\n', '.writ/memory.md': notes });
  await using scene = await scriptSession([{ text: 'one' }, { text: 'two' }], {}, sample);
  const { model, session } = scene;
  const shown = () =>
    statusLines(toSnapshot(session.channel.state), {})
      .flat()
      .map(({ text }) => text)
      .join('\n');
  t.match(shown(), 'the model got no instruction file yet');
  await scene.say('Hello.');
  await scene.ended();
  t.match(JSON.stringify(model.asked[0]?.body), /Prices are whole cents\..*Use tabs\./s);
  t.match(session.channel.state.instructions, [
    { path: '.writ/memory.md', sha256: sha256Hex(notes) },
    { path: 'AGENTS.md' },
  ]);
  t.match(shown(), `.writ/memory.md (${sha256Hex(notes).slice(0, 12)}), AGENTS.md (`);
});
