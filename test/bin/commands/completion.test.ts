/* The completion script of bash, in a bash without the package bash-completion. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { runLine } from '../host.ts';

t.test('bash completes with and without the package bash-completion', async (t) => {
  const cwd = t.testdir();
  const { code, out } = await runLine(['completion', 'bash'], commands, { cwd });
  t.equal(code, 0);
  writeFileSync(join(cwd, 'script'), out);
  // In place of the program: prints what it was asked, and what can follow.
  writeFileSync(
    join(cwd, 'writ'),
    `#!/bin/sh\necho "$*" > '${cwd}/asked'\nprintf 'seal\\tx\\nscan\\ty\\n:4\\n'\n`,
  );
  chmodSync(join(cwd, 'writ'), 0o755);
  const complete = (line: string, before = ''): readonly string[] => {
    const lines = [
      ...['compopt() { :; }', before, `source ${join(cwd, 'script')}`],
      ...[`COMP_LINE='${line}'`, `COMP_POINT=${line.length}`, '__writ_complete'],
      ...[`cat '${cwd}/asked'`, `printf '%s\\n' "\${COMPREPLY[@]}"`],
    ];
    const env = { PATH: `${cwd}:${process.env.PATH}` };
    return execFileSync('bash', ['--norc', '-c', lines.join('\n')], { env, encoding: 'utf8' })
      .trim()
      .split('\n');
  };
  t.strictSame(complete('writ se'), ['complete -- se', 'seal', 'scan']);
  t.strictSame(complete('writ '), ['complete -- ', 'seal', 'scan']);
  t.strictSame(complete('writ run --sandbox=no'), ['complete -- run --sandbox=no', 'seal', 'scan']);
  const packaged = '_get_comp_words_by_ref() { cur=sc; words=(writ sc); cword=1; }';
  t.strictSame(complete('writ x', packaged), ['complete -- sc', 'seal', 'scan']);

  writeFileSync(join(cwd, 'notes'), 'precious');
  const line = `writ seal -m "$(touch ${cwd}/made)" > ${cwd}/notes; touch ${cwd}/made --ri`;
  const [asked] = complete(line);
  t.equal(asked, line.replace('writ', 'complete --'), 'what is typed is never evaluated');
  t.equal(readFileSync(join(cwd, 'notes'), 'utf8'), 'precious');
  t.notOk(existsSync(join(cwd, 'made')));
});

t.test('where writ knows no word, the shell completes names of files', async (t) => {
  const answer = async (...words: readonly string[]) =>
    (await runLine(['complete', '--', ...words], commands, { cwd: t.testdir() })).out;
  t.equal(await answer('scan', 's'), ':0\n');
  t.match(await answer('sc'), /^scan\t[\s\S]*\n:4\n$/);
});
