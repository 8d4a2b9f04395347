import t from 'tap';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { transcriptText } from '../../../session/tui/show/earlier.ts';
import { playScene } from '../scenes/show-scene.ts';

/** What is written of a scene. */
async function exported(...given: Parameters<typeof playScene>): Promise<string> {
  return transcriptText(toSnapshot((await playScene(...given)).channel.state));
}

t.test('an exported transcript has the essence of the spec where it was proposed', async (t) => {
  const text = await exported(t, 'intent');
  t.match(
    text,
    /^# Thread \S+\n\n## You\n\n[\s\S]*\n## Spec: Keep notes of orders[^\n]*\n\n```\n[\s\S]*may write {3}src[\s\S]*checked by/,
  );
  t.notMatch(text, 'Transparency log', 'and not all of it');
});

t.test('an exported transcript has tool calls with exit codes and runs with their commits', async (t) => {
  const text = await exported(t, 'done');
  t.match(text, /\n- `read src\/validate\.js`\n/);
  t.match(
    text,
    /\n## Run 01a2071a\S+: Committed\n\n1 of 1 checks passed[^\n]*\n\n- commit `0123456789abcdef/,
  );
  t.match(text, '> **Gate fast**: passed');
  t.notMatch(text, /\(done|\(completed\)/);
  const failed = await exported(t, 'repair');
  t.match(failed, /\n- `\$ node --test --test-reporter=tap` exit code 1\n/);
  t.match(failed, /\n- `\$ node --test --test-reporter=tap` running\n/);
  t.match(failed, /: Refused\n\nstage/);
});

t.test('an exported transcript has approvals with their command and answers without secrets', async (t) => {
  t.match(await exported(t, 'approval'), /## Asked: Run a dangerous command\n\n```\n\$ git status && rm -rf/);
  const session = await playScene(t, 'question');
  const id = session.channel.state.interactions.at(-1)?.id ?? '';
  const answers = { a: ['1'], b: ['``` # no heading'], c: ['npm_0123456789'] };
  await session.channel.send({ type: 'respond', id, given: { answers }, proof: { from: 'local' } });
  const text = transcriptText(toSnapshot(session.channel.state));
  t.match(
    text,
    '> **Answer**: Which registry? → the company mirror\n> A message for the release notes → ``` #',
  );
  t.match(text, '> Token → answered, not shown');
  t.notMatch(text, 'npm_');
});

t.test('tool output cannot close the code block that contains it', async (t) => {
  const { threadId, interactions } = toSnapshot((await playScene(t, 'empty')).channel.state);
  const entry = {
    id: 'a',
    streaming: false,
    metadata: {},
    createdAt: '',
    updatedAt: '',
    status: 'completed',
  };
  const call = {
    ...entry,
    kind: 'tool_call' as const,
    title: 'workspace.command',
    content: 'execute `ls``\n# x',
  };
  const after = (output: string): string =>
    transcriptText({
      threadId,
      interactions,
      transcript: [call],
      toolCalls: [
        { id: 'a', toolName: 'x', status: 'completed', output, updatedAt: '' },
      ] as unknown as Parameters<typeof transcriptText>[0]['toolCalls'],
    });
  t.match(after('```\n# y'), '- ```$ `ls`` # x```\n\n````\n```\n# y\n````\n');
  t.match(after('`a'.repeat(200_000)), /a\n```\n$/, 'however many there are');
});
