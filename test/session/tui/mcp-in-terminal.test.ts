import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deafForMs } from '../../../session/tui/card.ts';
import { serverText } from '../../agent/mcp/mcp-scene.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, type TerminalScene } from './open-terminal-scene.ts';

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(12_000)]);

long('a dropped image is sent, and MCP servers say what became of them', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([
    { calls: [['mcp__notes__echo', { text: 'hello' }]] },
    { text: 'It is **a dot**.' },
    { text: 'Still a dot.' },
  ]);
  const outside = t.testdir({ 'my logo.png': png, mcp: { 'notes.cjs': serverText() } });
  const { root } = code.sample;
  const own = join(root, '..', 'home', '.config', 'writ');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const notes = `[mcp.notes]\ncommand = ["node", "/mcp/notes.cjs"]\ndirectory = "${join(outside, 'mcp')}"\n`;
  const gone = '[mcp.gone]\ncommand = ["node", "/elsewhere/gone.cjs"]\n';
  writeFileSync(join(own, 'config.toml'), gone + notes, { mode: 0o600 });
  mkdirSync(join(root, '.writ'), { recursive: true });
  writeFileSync(join(root, '.writ', 'config.toml'), '[mcp_servers.tickets]\ncommand = "node"\n');
  await using scene = code.start();
  await scene.until('? for help');
  scene.type(`What is @${join(outside, 'no.png')}?`);
  scene.press('enter');
  await scene.until(/is not attached: there is no such file/);
  t.match(scene.screen().join('\n'), /> What is\s+@/, 'the message is not lost');
  scene.press('ctrl+c');
  scene.type('What is ');
  scene.paste(`'${join(outside, 'my logo.png')}'`);
  await scene.until('What is [image my logo.png]');
  scene.press('enter');
  await scene.until('  [image my logo.png 12 kB]');
  await scene.until('Approval: Start an MCP server');
  await press(scene, 'y', /MCP: MCP server `gone` ended with 1: Error: Cannot find\s+module/);
  await scene.until(/the sandbox\s+shows the program no file of yours/);
  await scene.until(/mcp\.notes start/);
  await press(scene, 'y', 'arguments {"text":"hello"}');
  await press(scene, 'y', 'It is a dot.');
  const lines = scene.lines().join('\n');
  t.match(
    lines,
    /MCP: `\[mcp_servers\.tickets\]` of `\.writ\/config\.toml` differs from HEAD and counts once\s+committed/,
  );
  scene.type('/mcp');
  scene.press('enter');
  await scene.until('MCP servers');
  await scene.until(/gone {10}failed, of the user configuration · no network, no files/);
  await scene.until(/notes {9}started, of the user configuration .* approved: echo/s);
  await scene.until('not in force');
  scene.type('/ask And now?');
  scene.press('enter');
  await scene.until('Still a dot.');
  t.equal(
    scene.lines().join('\n').split('MCP: MCP server `gone`').length,
    2,
    'the same reason is shown once',
  );
});

/** A question is deaf for a moment, so that it can be read. */
async function press(scene: TerminalScene, key: string, seen: string | RegExp): Promise<void> {
  await instant(deafForMs + 50);
  scene.type(key);
  await scene.until(seen);
}
