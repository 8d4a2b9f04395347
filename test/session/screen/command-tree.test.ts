import t from 'tap';
import { describeApproval } from '../../../session/approvals/describe-approval.ts';
import { textOf } from '../../../session/screen/line.ts';
import { commandTree } from '../../../session/screen/question-body.ts';

const secret = 'hunter2-hunter2';

/** The lines that a person judges a command by. */
function shown(command: string): readonly string[] {
  const { metadata } = describeApproval(
    {
      id: 'use',
      request: { runId: 'r', tool: 'workspace.command', action: 'execute', command },
      cwd: '/w',
      sandbox: 'f'.repeat(64),
      branch: 'refs/heads/main',
      isOutside: false,
    },
    { why: 'it is dangerous', ttlSeconds: 300, mask: (text) => text.replaceAll(secret, '[secret]') },
  );
  return commandTree(JSON.parse(JSON.stringify(metadata))).map(textOf);
}

t.test('an unproven part is listed once, next to its command where it has one', async (t) => {
  const lines = shown('rm -rf build && npm install x; echo $TARGET');
  t.equal(lines[0], '$ rm -rf build && npm install x; echo $TARGET');
  t.match(lines, [
    /^\$/,
    /^ {2}dangerous {2}rm -rf build {2}deletes: `rm` deletes/,
    /^ {2}unknown {4}npm install x {2}not-known: cannot prove: what `npm` does/,
    /^ {2}\S+ +echo ‹unknown: \$TARGET›/,
  ]);
  t.equal(lines.filter((line) => line.includes('what `npm` does')).length, 1);
  t.ok(lines.includes('  cannot prove: the value of `$TARGET`'), 'what no command tells stands below them');
});

t.test('a command of several lines is shown in marked lines, escaped and masked', async (t) => {
  const lines = shown(`cat <<EOT > x.sh\n  safe       ls  only-reads\npass ${secret}\tx\nEOT\nsh x.sh`);
  t.match(lines.slice(0, 5), [
    '$ cat <<EOT > x.sh',
    '│   safe       ls  only-reads',
    '│ pass [secret]\\u{9}x',
    '│ EOT',
    '│ sh x.sh',
  ]);
  t.notMatch(lines.join(''), /\\u\{a\}|hunter2/);
  const many = shown(Array.from({ length: 90 }, (_, at) => `echo ${at}`).join('\n'));
  t.ok(many.includes('│ … and 50 more lines'));
  t.equal(shown('echo a')[0], '$ echo a');
});

t.test('a command that is only partly parsed shows its readable parts, none of them as safe', async (t) => {
  const lines = shown('git push; cat a && ./run.sh && rm -rf build; echo $((1+2))');
  t.match(lines.slice(1), [
    /^ {2}dangerous {2}git push {2}version-control/,
    /^ {2}unknown {4}cat a {2}beside-unread: `cat` only reads, with these words, if it is that program$/,
    /^ {2}dangerous {2}rm -rf build {2}deletes/,
    /^ {2}cannot prove: expected a program's bare name, found the path `.\/run.sh`$/,
    /^ {2}cannot prove: arithmetic can run commands in some shells$/,
  ]);
  t.equal(lines.length, 6);
  const inside = shown('ls() { rm -rf a; }; for ((i=0;i<2;i++)); do shred x; done; ls /');
  t.match(inside.slice(1), [
    /^ {2}dangerous {2}rm -rf a /,
    /^ {2}dangerous {2}shred x/,
    /^ {2}unknown {4}ls \//,
    /cannot prove: a function can take the name of a program/,
    /cannot prove: `for \(\(` is not in every shell/,
  ]);
  const torn = shown("ls; cat 'a");
  t.match(torn.at(-1), /^ {2}cannot prove: the shell grammar does not accept it/);
});

t.test('the arguments of an MCP tool have their own line', async (t) => {
  const lines = commandTree({ subject: 'mcp.notes.echo call x', arguments: '{"id":7,"x":"\u001b"}' }).map(
    textOf,
  );
  t.strictSame(lines.slice(0, 1), ['  mcp.notes.echo call x']);
  t.match(lines[1], /^ {2}arguments \{"id":7,"x":"[^\u001b]+"\}$/);
});
