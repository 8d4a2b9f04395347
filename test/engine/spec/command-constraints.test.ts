import t from 'tap';
import { builtInLedger } from '../../../engine/spec/built-in-ledger.ts';
import { guardCommand } from '../../../engine/tool/acl.ts';
import { accepted, type Json, put, sample } from './sample.ts';

/** What the ACL of the minimal contract, with other rules, says to a command. */
function ask(command: string, constraints: Json, deny: Json = []): ReturnType<typeof guardCommand> {
  const document = sample('minimal');
  put(document, ['security', 'toolAcl'], {
    allow: [{ tool: 'workspace.command', actions: ['execute'], constraints }],
    deny,
  });
  return guardCommand(accepted(document).effective.security.toolAcl, command, { variables: [] });
}

const npm = { allowCommands: ['npm'] };

t.test('toolRule.constraints: an unknown key or an unusable value fails closed', async (t) => {
  t.equal(ask('npm test', npm).refusal, undefined);
  t.ok(ask('npm test', { ...npm, allowCommand: ['npm'] }).refusal);
  t.ok(ask('npm test', { ...npm, maxOutputBytes: 'many' }).refusal);
});

t.test('toolRule.constraints.allowCommands: a command that no entry begins is refused', async (t) => {
  t.equal(ask('npm test', { allowCommands: ['npm test'] }).refusal, undefined);
  t.ok(ask('npm publish', { allowCommands: ['npm test'] }).refusal);
});

t.test('toolRule.constraints.denySubstrings: a command that holds one is refused', async (t) => {
  t.ok(ask('npm test --unsafe-perm', { ...npm, denySubstrings: ['--unsafe-perm'] }).refusal);
  t.equal(ask('npm test', { ...npm, denySubstrings: ['--unsafe-perm'] }).refusal, undefined);
});

t.test('toolRule.constraints.maxOutputBytes: the bound goes with the verdict', async (t) => {
  t.equal(ask('npm test', { ...npm, maxOutputBytes: 4096 }).maxOutputBytes, 4096);
  t.equal(ask('npm test', npm).maxOutputBytes, undefined);
  t.equal(ask('npm test', { ...npm, maxOutputBytes: 4096, maxResultBytes: 64 }).maxOutputBytes, 64);
});

t.test('a rule governs the tool and the actions that it names, and nothing else', async (t) => {
  const askUnder = (rule: Json) => {
    const document = sample('minimal');
    put(document, ['security', 'toolAcl'], { allow: [rule], deny: [] });
    return guardCommand(accepted(document).effective.security.toolAcl, 'npm test', { variables: [] });
  };
  const rule = { tool: 'workspace.command', actions: ['execute'], constraints: npm };
  t.equal(askUnder(rule).refusal, undefined);
  t.ok(askUnder({ ...rule, tool: 'workspace.search' }).refusal, 'toolRule.tool');
  t.ok(askUnder({ ...rule, actions: ['read'] }).refusal, 'toolRule.actions');
});

t.test('security.toolAcl.deny: a deny rule wins over an allow rule', async (t) => {
  const deny = [
    { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['npm publish'] } },
  ];
  t.ok(ask('npm publish', npm, deny).refusal);
  t.equal(ask('npm test', npm, deny).refusal, undefined);
});

t.test(
  'toolRule.constraints.writeRoots: a redirection that is not proven to stay below is refused',
  async (t) => {
    const roots = { ...npm, writeRoots: ['out'] };
    t.equal(ask('npm test > out/log.txt', roots).refusal, undefined);
    t.equal(ask('npm test > "$TMPDIR/log.txt"', roots).refusal, undefined, 'what is thrown away');
    t.ok(ask('npm test > src/log.txt', roots).refusal);
    t.ok(ask('npm test > out/../src/log.txt', roots).refusal);
    t.ok(ask('npm test > "$REPORTS_DIR.txt"', roots).refusal, 'nobody knows where');
    const deny = [{ tool: 'workspace.command', actions: ['execute'], constraints: { writeRoots: ['src'] } }];
    t.ok(ask('npm test > src/log.txt', npm, deny).refusal, 'in a deny rule, what lies inside');
    t.equal(ask('npm test > out/log.txt', npm, deny).refusal, undefined);
  },
);

t.test('toolRule.constraints.denyPaths: a command that names one of them is refused', async (t) => {
  const paths = { allowCommands: ['npm', 'cat'], denyPaths: ['secret'] };
  t.equal(ask('cat src/a.txt', paths).refusal, undefined);
  t.ok(ask('cat secret/key.txt', paths).refusal);
  t.ok(ask('npm test --config=./secret/npmrc', paths).refusal, 'the value of an option');
  t.ok(ask('npm test < secret/answers', paths).refusal, 'a redirection');
  const deny = [{ tool: 'workspace.command', actions: ['execute'], constraints: { denyPaths: ['secret'] } }];
  t.ok(ask('cat secret/key.txt', { allowCommands: ['cat'] }, deny).refusal);
  t.equal(ask('cat src/a.txt', { allowCommands: ['cat'] }, deny).refusal, undefined);
});

t.test('constraints that the command ACL judges are asked of nobody else', async (t) => {
  const unenforced = (constraints: Json) => {
    const document = sample('minimal');
    put(document, ['security', 'toolAcl'], {
      allow: [{ tool: 'workspace.command', actions: ['execute'], constraints }],
      deny: [{ tool: 'workspace.command', actions: ['execute'], constraints }],
    });
    return builtInLedger().unenforced(accepted(document).effective, { model: false });
  };
  t.strictSame(unenforced({ writeRoots: ['out'], denyPaths: ['secret'] }), []);
  t.strictSame(unenforced({ maxWriteBytes: 5, maxResultBytes: 5 }), []);
});
