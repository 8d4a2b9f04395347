import t from 'tap';
import { builtInLedger } from '../../spec/contract-rows.ts';
import { guardCommand } from '../../workspace/command-acl/acl.ts';
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

t.test('an unknown key or an unusable value in toolRule.constraints refuses the command', async (t) => {
  t.equal(ask('npm test', npm).refusal, undefined);
  t.ok(ask('npm test', { ...npm, allowCommand: ['npm'] }).refusal);
  t.ok(ask('npm test', { ...npm, maxOutputBytes: 'many' }).refusal);
});

t.test(
  'toolRule.constraints.allowCommands refuses a command that no entry matches at its start',
  async (t) => {
    t.equal(ask('npm test', { allowCommands: ['npm test'] }).refusal, undefined);
    t.ok(ask('npm publish', { allowCommands: ['npm test'] }).refusal);
  },
);

t.test('toolRule.constraints.denySubstrings refuses a command that contains an entry', async (t) => {
  t.ok(ask('npm test --unsafe-perm', { ...npm, denySubstrings: ['--unsafe-perm'] }).refusal);
  t.equal(ask('npm test', { ...npm, denySubstrings: ['--unsafe-perm'] }).refusal, undefined);
});

t.test('toolRule.constraints.maxOutputBytes is returned with the authorization', async (t) => {
  t.equal(ask('npm test', { ...npm, maxOutputBytes: 4096 }).maxOutputBytes, 4096);
  t.equal(ask('npm test', npm).maxOutputBytes, undefined);
  t.equal(ask('npm test', { ...npm, maxOutputBytes: 4096, maxResultBytes: 64 }).maxOutputBytes, 64);
});

t.test('a rule applies only to the tool and the actions that it names', async (t) => {
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

t.test('in security.toolAcl a deny rule wins over an allow rule', async (t) => {
  const deny = [
    { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['npm publish'] } },
  ];
  t.ok(ask('npm publish', npm, deny).refusal);
  t.equal(ask('npm test', npm, deny).refusal, undefined);
});

t.test('toolRule.constraints.writeRoots refuses a redirection that may leave the roots', async (t) => {
  const roots = { ...npm, writeRoots: ['out'] };
  t.equal(ask('npm test > out/log.txt', roots).refusal, undefined);
  t.equal(ask('npm test > "$TMPDIR/log.txt"', roots).refusal, undefined, 'what is thrown away');
  t.ok(ask('npm test > src/log.txt', roots).refusal);
  t.ok(ask('npm test > out/../src/log.txt', roots).refusal);
  t.ok(ask('npm test > "$REPORTS_DIR.txt"', roots).refusal, 'nobody knows where');
  const deny = [{ tool: 'workspace.command', actions: ['execute'], constraints: { writeRoots: ['src'] } }];
  t.ok(ask('npm test > src/log.txt', npm, deny).refusal, 'in a deny rule, what lies inside');
  t.equal(ask('npm test > out/log.txt', npm, deny).refusal, undefined);
});

t.test('toolRule.constraints.denyPaths refuses a command that names a denied path', async (t) => {
  const paths = { allowCommands: ['npm', 'cat'], denyPaths: ['secret'] };
  t.equal(ask('cat src/a.txt', paths).refusal, undefined);
  t.ok(ask('cat secret/key.txt', paths).refusal);
  t.ok(ask('npm test --config=./secret/npmrc', paths).refusal, 'the value of an option');
  t.ok(ask('npm test < secret/answers', paths).refusal, 'a redirection');
  const deny = [{ tool: 'workspace.command', actions: ['execute'], constraints: { denyPaths: ['secret'] } }];
  t.ok(ask('cat secret/key.txt', { allowCommands: ['cat'] }, deny).refusal);
  t.equal(ask('cat src/a.txt', { allowCommands: ['cat'] }, deny).refusal, undefined);
});

t.test('constraints that the command ACL enforces are never reported as unenforced', async (t) => {
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
