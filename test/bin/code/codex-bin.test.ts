import { join } from 'node:path';
import t from 'tap';
import { graphLine, resumeLine } from '../../../bin/code/serve-code.ts';
import { codeCommands } from '../../../bin/command-table/code-commands.ts';
import { commands } from '../../../bin/command-table.ts';
import { parseArguments } from '../../../bin/dispatch.ts';
import { fixtures, makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

t.test('`--codex-bin` of a program that does not exist is refused at the start', async (t) => {
  const { root, env, git, remove } = makeSample();
  t.teardown(remove);
  const spec = join(fixtures, '_sample.intent.json');
  for (const [words, exit, fault] of [
    [['code', '--web-only', '--port', '0', '--mcp-port', '0'], 129, 'PROVIDER_OPTION'],
    [['run', spec], 128, 'AGENT_UNAVAILABLE'],
    [['run', '--request', 'Make prices exact', '--yes'], 128, 'AGENT_UNAVAILABLE'],
    [['plan', spec], 128, 'AGENT_UNAVAILABLE'],
  ] as const) {
    const line = [...words, '--provider', 'codex', '--json', '--codex-bin', './no-such-codex'];
    const { code, out } = await runLine(line, commands, {
      cwd: root,
      env: { ...env, OPENAI_API_KEY: 'key-of-nobody-1234567890' },
    });
    t.equal(code, exit, words[0]);
    const { error } = JSON.parse(out);
    t.equal(error.code, fault);
    t.match(error.message, /the program `.*no-such-codex` cannot be started: it is no program/);
  }
  t.equal(git('for-each-ref', 'refs/ai'), '', 'nothing was begun');
});

t.test('the line that resumes a thread holds the files that the thread does not record', async (t) => {
  const lineOf = (words: string, workingDir = '/repo'): string => {
    const invocation = parseArguments(['code', ...words.split(' ')], codeCommands);
    if (invocation.kind !== 'command') throw new Error(invocation.kind);
    return resumeLine({ cwd: '/repo', options: invocation.options }, { workingDir }, 'thread-1');
  };
  t.equal(lineOf('--provider codex'), 'writ code --resume thread-1');
  t.equal(
    lineOf('--provider codex --codex-bin ./bin/codex --env-file .env.local', '/other'),
    'writ code --cwd /other --codex-bin ./bin/codex --env-file .env.local --resume thread-1',
  );
  const graphOf = (workingDir: string) => graphLine({ cwd: '/repo' }, { workingDir }, 'thread-1');
  t.equal(graphOf('/repo'), 'writ graph thread-1');
  t.equal(graphOf('/other place'), "writ graph thread-1 --repo '/other place'");
});
