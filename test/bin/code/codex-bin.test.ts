import t from 'tap';
import { codeCommands } from '../../../bin/command-table/code-commands.ts';
import { makeSample } from '../../engine/run/sample.ts';
import { runLine } from '../host.ts';

t.test('`--codex-bin` of a program that does not exist is refused at the start', async (t) => {
  const { root, env, remove } = makeSample();
  t.teardown(remove);
  const words = ['code', '--web-only', '--port', '0', '--mcp-port', '0', '--provider', 'codex', '--json'];
  const { code, out } = await runLine([...words, '--codex-bin', './no-such-codex'], codeCommands, {
    cwd: root,
    env: { ...env, OPENAI_API_KEY: 'key-of-nobody-1234567890' },
  });
  t.equal(code, 129);
  const { error } = JSON.parse(out);
  t.equal(error.code, 'PROVIDER_OPTION');
  t.match(error.message, /`--codex-bin`: expected a program to start, and `.*no-such-codex` is no program/);
});
