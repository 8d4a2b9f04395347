import type { Json } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { ending, mending, workWithScript } from './work-with-script.ts';

interface Invocation {
  readonly [key: string]: Json;
}

long('each tool call is stored as a ToolInvocation with outcome and digests, masked', async (t) => {
  const token = ['ghp_', 'Zz91kQm3'.repeat(5).slice(0, 36)].join('');
  const { view, sample } = await workWithScript(t, [
    {
      calls: [
        ['read_file', { path: 'src/price.js' }],
        ['read_file', { path: 'src/price.js' }],
        ['read_file', { path: '../x' }],
        ['shell', { command: `echo ${token}` }],
        ['shell', { command: 'node -e "process.exit(3)"' }],
      ],
    },
    { calls: [mending] },
    { calls: [ending] },
  ]);
  t.match(view, { decision: { type: 'commit' } });
  const ref = `refs/ai/runs/${view.runId}`;
  const paths = sample
    .git('ls-tree', '-r', '--name-only', ref)
    .split('\n')
    .filter((path) => path.includes('/tools/worker/'));
  t.equal(paths.length, 9, 'the patch reads two files and writes them');
  t.match(paths[0], /^task-1\/revision-1\/attempt-1\/tools\/worker\/\d+\.json$/);
  const texts = paths.map((path) => sample.git('cat-file', 'blob', `${ref}:${path}`));
  const uses = texts.map((text) => JSON.parse(text) as Invocation);
  const run = JSON.parse(
    sample.git('cat-file', 'blob', `${ref}:task-1/revision-1/attempt-1/run.json`),
  ) as Invocation;
  const hex = /^[0-9a-f]{64}$/;
  for (const use of uses)
    t.match(use, {
      object_type: 'tool_invocation',
      run: run.object_id,
      arguments_digest: hex,
      result_digest: hex,
    });
  t.match(uses[0], { tool: 'workspace.fs', action: 'read', outcome: 'done', path: 'src/price.js' });
  t.equal(uses[1]?.arguments_digest, uses[0]?.arguments_digest, 'the same question');
  t.equal(uses[1]?.result_digest, uses[0]?.result_digest, 'and answer');
  t.match(uses[2], { outcome: 'denied', refusal: 'acl' });
  t.not(uses[2]?.arguments_digest, uses[0]?.arguments_digest);
  t.match(uses[3], { tool: 'workspace.command', action: 'execute', outcome: 'done', exit_code: 0 });
  t.match(uses[4], { outcome: 'failed', exit_code: 3 });
  for (const text of texts) t.notMatch(text, token);
  t.strictSame(view.toolUses, {
    count: 9,
    tools: [
      { tool: 'workspace.command', action: 'execute', done: 1, denied: 0, failed: 1 },
      { tool: 'workspace.fs', action: 'read', done: 4, denied: 1, failed: 0 },
      { tool: 'workspace.fs', action: 'write', done: 2, denied: 0, failed: 0 },
    ],
  });
  const { replayRun } = await import('../../engine/decide/replay-run.ts');
  const files = new Map(
    sample
      .git('ls-tree', '-r', '--name-only', ref)
      .split('\n')
      .map((path) => [path, Buffer.from(`${sample.git('cat-file', 'blob', `${ref}:${path}`)}\n`)] as const),
  );
  const [first = ''] = paths;
  const without = new Map([...files].filter(([path]) => path !== first));
  t.equal(replayRun(files).equal, true, JSON.stringify(replayRun(files)));
  t.match(replayRun(without), { equal: false, firstDifference: { file: 'tool-uses.json' } }, 'one is gone');
  const moved = new Map([
    ...files,
    [first, Buffer.from(String(texts[0]).replace(String(run.object_id), String(view.runId)))] as const,
  ]);
  t.match(
    replayRun(moved),
    { equal: false, firstDifference: { file: first, field: '/run' } },
    'one is of another Run',
  );
});
