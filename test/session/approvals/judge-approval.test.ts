import t from 'tap';
import { type ApprovalFacts, decideApproval } from '../../../session/approvals/judge-approval.ts';
import type { ToolUse } from '../../../session/approvals/tool-use.ts';
import { commandUse, toolUse } from './use-of.ts';

const confined: ApprovalFacts = { sandbox: 'bwrap', leavesMachine: false };

const uses: Readonly<Record<string, readonly [ToolUse, Partial<ApprovalFacts>?]>> = {
  'a proven read': [commandUse('cat a | head -3')],
  'a command that nobody knows': [commandUse('npm test')],
  'a dangerous command': [commandUse('rm -rf src')],
  'a text that cannot be read': [commandUse('eval "$X"')],
  'no text at all': [commandUse('')],
  'a command without its text': [toolUse({ tool: 'workspace.command', action: 'execute' })],
  'a command that the sandbox denied': [commandUse('npm test'), { heldBack: 'to reach the network' }],
  'a command with an opened host': [commandUse('npm test'), { leavesMachine: true }],
  'a read with an opened host': [commandUse('cat a'), { leavesMachine: true }],
  'a command outside': [commandUse('npm test', { isOutside: true })],
  'a read outside': [commandUse('cat a', { isOutside: true })],
  'a file that is read': [toolUse({ tool: 'workspace.fs', action: 'read', paths: ['a'] })],
  'a file that is written': [toolUse({ tool: 'workspace.fs', action: 'write', paths: ['a'] })],
  'a file that is deleted': [toolUse({ tool: 'workspace.fs', action: 'delete', paths: ['a'] })],
  'a question to the web': [
    toolUse({ tool: 'web.search', action: 'search', query: 'a' }),
    { leavesMachine: true },
  ],
  'a question to the web that a person opened': [
    toolUse({ tool: 'web.search', action: 'search', query: 'a' }),
  ],
  'history that is read': [toolUse({ tool: 'vcs', action: 'read', command: '`log`' })],
  'a commit': [toolUse({ tool: 'vcs', action: 'write' }, { argv: ['commit', '-m', 'a'] })],
  'a tool of somebody': [toolUse({ tool: 'theirs', action: 'do' })],
  'an unknown action of a known tool': [toolUse({ tool: 'workspace.fs', action: 'execute', paths: ['a'] })],
};

/**
 * never, allow-all, on-failure, on-request, untrusted: go, ask, ask Freshly, refuse; in a sandbox and without any.
 */
const expected: Readonly<Record<keyof typeof uses, readonly [inside: string, without: string]>> = {
  'a proven read': ['ggggg', 'rgaaa'],
  'a command that nobody knows': ['gggga', 'rgaaa'],
  'a dangerous command': ['rggaa', 'rgaaa'],
  'a text that cannot be read': ['rggaa', 'rgaaa'],
  'no text at all': ['rggaa', 'rgaaa'],
  'a command without its text': ['rggaa', 'rgaaa'],
  'a command that the sandbox denied': ['ggaga', 'rgaaa'],
  'a command with an opened host': ['gggaa', 'rgaaa'],
  'a read with an opened host': ['gggaa', 'rgaaa'],
  'a command outside': ['rffff', 'rffff'],
  'a read outside': ['rffff', 'rffff'],
  'a file that is read': ['ggggg', 'ggggg'],
  'a file that is written': ['gggga', 'gggga'],
  'a file that is deleted': ['gggga', 'gggga'],
  'a question to the web': ['gggaa', 'gggaa'],
  'a question to the web that a person opened': ['gggga', 'gggga'],
  'history that is read': ['ggggg', 'ggggg'],
  'a commit': ['rgaaa', 'rgaaa'],
  'a tool of somebody': ['rgaaa', 'rgaaa'],
  'an unknown action of a known tool': ['rgaaa', 'rgaaa'],
};

const policies = ['never', 'allow-all', 'on-failure', 'on-request', 'untrusted'] as const;

t.test('every policy gives the expected verdict for every use, with and without a sandbox', async (t) => {
  const letter = (use: ToolUse, facts: ApprovalFacts) => (policy: (typeof policies)[number]) => {
    const found = decideApproval(policy, use, facts);
    t.ok(found.why.length > 0, 'and says why');
    if (found.verdict === 'ask') return found.isFresh ? 'f' : 'a';
    return found.verdict === 'go' ? 'g' : 'r';
  };
  for (const [name, [use, more]] of Object.entries(uses)) {
    const facts = { ...confined, ...more };
    const { sandbox: _, ...bare } = facts;
    const found = [policies.map(letter(use, facts)).join(''), policies.map(letter(use, bare)).join('')];
    t.strictSame(found, expected[name], name);
  }
});
