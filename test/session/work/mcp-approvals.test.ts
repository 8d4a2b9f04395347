import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { McpState } from '../../../agent/mcp/mcp-tools.ts';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { installServers, serverText, table, writeServers } from '../../agent/mcp/mcp-scene.ts';
import { toldTo } from '../../agent/model-work.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { scriptSession } from './scripted-session.ts';

const otherCall = { calls: [['mcp__notes__echo', { text: 'another' }]] } as const;
const call = { calls: [['mcp__notes__echo', { text: 'hello' }]] } as const;

t.test(
  'a server that does not start is a note with its reason, once, and never one that was denied',
  async (t) => {
    const sample = makeSample();
    installServers(sample, {}, table('gone') + table('later'));
    writeFileSync(join(sample.root, '.writ', 'config.toml'), '[mcp.other]\ncommand = ["node"]\n');
    await using scripted = await scriptSession(
      [{ text: 'One.' }, { text: 'Two.' }],
      {
        run: {
          schedulerVersion: '0.0.0',
          witness: userJournalWitness(sample.env),
          reach: reachProvider({ variable: () => undefined, keys: {} }),
          mcp: { servers: async () => [] },
        },
      },
      sample,
    );
    const { channel } = scripted.session;
    await scripted.say('/ask How?');
    await scripted.answer((await scripted.asked('approval')).id, { selectedOption: 'approve' });
    await scripted.answer((await scripted.asked('approval')).id, { selectedOption: 'deny' });
    await scripted.ended();
    await scripted.say('/ask Again?');
    await scripted.answer((await scripted.asked('approval')).id, { selectedOption: 'deny' });
    await scripted.ended();
    const notes = channel.state.transcript
      .filter(({ title }) => title === 'MCP')
      .map(({ content }) => content);
    t.match(notes, [
      /^`\[mcp\.other\]`, `\[mcp\.gone\]`, `\[mcp\.later\]` of `\.writ\/config\.toml` differ from HEAD/,
      /^MCP server `gone` ended with 1: Error: Cannot find module .*; the sandbox shows the program no file of yours: .* \(MCP_SERVER_FAILED\)\. `\/mcp` lists the servers\.$/,
    ]);
    t.equal(notes.length, 2);
  },
);

long(
  'a person approves a server and a tool once, and again when the tool is declared otherwise',
  async (t) => {
    const sample = makeSample();
    installServers(sample, { notes: serverText() }, table('notes'));
    const states: McpState[] = [];
    await using scripted = await scriptSession(
      [call, otherCall, { text: 'Done.' }, call, { text: 'Done.' }, call, { text: 'Done.' }],
      {
        run: {
          schedulerVersion: '0.0.0',
          witness: userJournalWitness(sample.env),
          reach: reachProvider({ variable: () => undefined, keys: {} }),
          mcp: { servers: async () => [], told: (state) => void states.push(state) },
        },
      },
      sample,
    );
    const { session, model } = scripted;
    const questions = () => session.channel.state.interactions.length;

    await scripted.say('/ask How?');
    const server = await scripted.asked('approval');
    t.match(server.title, 'Start an MCP server');
    t.match(server.metadata, { tool: 'mcp.notes', action: 'start', isExact: true });
    t.match(
      server.description,
      /policy configuration sha256:[0-9a-f]{64}; no network, no files; node node_modules/,
    );
    await scripted.answer(server.id, { selectedOption: 'approve' });
    const tool = await scripted.asked('approval');
    t.match(tool.title, 'Use a tool of an MCP server');
    t.match(
      tool.description,
      /mcp\.notes\.echo call declaration sha256:[0-9a-f]{64}; no network, no files; Repeats it\./,
    );
    t.match(tool.description, '\nArguments: {"text":"hello"}\n');
    t.equal(tool.metadata.arguments, '{"text":"hello"}');
    t.match(tool.metadata.reuse, {
      approve: /until writ ends: this tool with any arguments, as it is declared now/,
    });
    await scripted.answer(tool.id, { selectedOption: 'approve' });
    await scripted.ended();
    t.equal(questions(), 2, 'the second call asks nothing');
    t.match(toldTo(model).at(-1), /\[web\] mcp\.notes\.echo\necho another/);

    await scripted.say('/ask Again?');
    await scripted.ended();
    t.equal(questions(), 2, 'the next turn asks nothing');

    const tools = `[{ name: 'echo', description: 'Repeats it and more.', inputSchema: { type: 'object' } }]`;
    writeServers(sample, { notes: serverText({ tools }) });
    await scripted.say('/ask Once more?');
    const other = await scripted.asked('approval');
    t.match(other.description, 'Repeats it and more.');
    await scripted.answer(other.id, { selectedOption: 'deny' });
    await scripted.ended();
    t.equal(questions(), 3);
    t.match(toldTo(model).at(-1), /denied: the person did not approve it/);
    t.match(states.at(-1), {
      server: 'notes',
      state: 'started',
      tools: [{ name: 'echo', isApproved: false }],
    });
  },
);
