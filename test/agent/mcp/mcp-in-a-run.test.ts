import t from 'tap';
import { installServers, mcpRule, runWithMcp, serverText, table } from './mcp-scene.ts';

t.test(
  'a model calls the tool of a configured server that a rule names, and the provenance names both',
  async (t) => {
    const run = await runWithMcp(t, [['mcp__notes__echo', { text: 'hello' }]], {
      rules: [mcpRule('notes.echo')],
      prepare: (sample) => installServers(sample, { notes: serverText() }, table('notes')),
    });
    t.match(run.view, { decision: { type: 'commit' } });
    t.match(run.tools, [
      { name: 'mcp__notes__echo', description: /<untrusted>\nRepeats it\.\n<\/untrusted>/ },
    ]);
    t.match(run.told[0], /<untrusted>\n\[web\] mcp\.notes\.echo\necho hello\n<\/untrusted>/);
    t.match(run.named(), [
      {
        name: 'mcp-server/notes',
        uri: /^urn:writ:mcp-server:sha256%3A[0-9a-f]{64}$/,
        digest: { sha256: /^[0-9a-f]{64}$/ },
        annotations: { from: ['policy'], version: ['1.2.3'], called: [/^echo sha256:[0-9a-f]{64}$/] },
      },
    ]);
    t.match(
      run.view.toolUses?.tools.filter(({ tool }) => tool.startsWith('mcp.')),
      [
        { tool: 'mcp.notes', action: 'start', done: 1 },
        { tool: 'mcp.notes.echo', action: 'call', done: 1 },
      ],
    );
    t.match(run.states.at(-1), {
      server: 'notes',
      state: 'started',
      tools: [{ name: 'echo', isApproved: true }],
    });
  },
);

t.test('a server that `[session] mcp` does not list is not started, and the record says why', async (t) => {
  const limits = '[session]\nmcp = ["wiki"]\n';
  const run = await runWithMcp(t, [], {
    rules: [mcpRule('notes.echo')],
    prepare: (sample) => installServers(sample, { notes: serverText() }, `${limits}${table('notes')}`),
  });
  t.match(run.states, [{ server: 'notes', state: 'refused', why: /`notes` exceeds `mcp` in \[session\]/ }]);
  t.strictSame(run.tools, []);
});
