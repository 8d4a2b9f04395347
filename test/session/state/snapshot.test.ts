import t from 'tap';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { everyFact } from './every-fact.ts';
import { newWorld } from './walk.ts';

const at = '1970-01-01T00:00:01.000Z';
const entry = { streaming: false, metadata: {}, createdAt: at, updatedAt: at };

t.test('a snapshot has exactly the fields of the API', async (t) => {
  const shown = toSnapshot(everyFact());
  const { options, ...interaction } = shown.interactions[0] ?? { options: [] };
  t.strictSame(
    { ...shown, interactions: [interaction] },
    {
      sessionId: 's',
      threadId: 't',
      workingDir: '/w',
      provider: { provider: 'codex', model: 'other', mode: 'plan', managed: true },
      capabilities: {
        messageInput: true,
        streamingText: true,
        planUpdates: true,
        toolCalls: true,
        patchsets: true,
        interactiveApprovals: true,
        structuredQuestions: true,
        providerSessionResume: true,
      },
      controller: {
        kind: 'browser',
        ownerLabel: 'page',
        canWrite: true,
        leaseExpiresAt: '1970-01-01T00:00:00.009Z',
        loopbackOnly: true,
      },
      status: 'executing_tool',
      settings: { context: 'dev', networkAccess: 'allow', review: 'on', model: 'other' },
      transcript: [
        { id: 'm', kind: 'user_message', content: 'hello', ...entry },
        { id: 'r', kind: 'assistant_message', content: 'well', ...entry },
        { id: 'call', kind: 'tool_call', title: 'shell', content: 's', status: 'running', ...entry },
        { id: 'n', kind: 'info_note', title: 'told', content: 'note', ...entry },
        {
          id: 'o',
          kind: 'info_note',
          content: 'passed',
          ...entry,
          metadata: {
            gate: { stage: 'fast', status: 'passed', ran: 1, expected: 2 },
            outcome: { runId: 'run', decision: 'commit', why: 'w', commit: 'c' },
          },
        },
        { id: 'plan', kind: 'plan_summary', title: 't', content: 's\n1. do', ...entry },
        {
          id: 'diff-p-1000',
          kind: 'diff',
          title: '1 file changed',
          content: '+\n',
          status: 'proposed',
          ...entry,
          metadata: { patchset: 'p' },
        },
      ],
      plans: [
        {
          id: 'plan',
          title: 't',
          summary: 's',
          status: 'proposed',
          steps: [{ id: '1', step: 'do', status: 'pending' }],
          estimates: [{ line: '1', tokens: 800, costUsd: 0.2 }],
          estimatedFrom: 3,
          actuals: [{ line: '1', tokens: 1000, costUsd: 0.1 }],
          updatedAt: at,
        },
      ],
      tasks: [{ id: 'task', title: 't', status: 'pending', details: 'was stopped', updatedAt: at }],
      toolCalls: [
        {
          id: 'call',
          toolName: 'shell',
          status: 'running',
          summary: 's',
          details: 'd',
          output: 'so far',
          updatedAt: at,
        },
      ],
      patchsets: [
        {
          id: 'p',
          status: 'proposed',
          changes: [
            { path: 'a', changeType: 'modified', diff: '+', hunks: [{ id: 'h', header: '@@' }], unshown: 1 },
          ],
          updatedAt: at,
        },
      ],
      interactions: [
        {
          id: 'i',
          kind: 'approval',
          title: 't',
          description: 'd',
          prompt: 'p',
          status: 'resolved',
          metadata: {},
          requestedAt: '1970-01-01T00:00:00.001Z',
          resolvedAt: at,
        },
      ],
      gates: [{ stage: 'fast', status: 'passed', ran: 1, expected: 2 }],
      outcome: { runId: 'run', decision: 'commit', why: 'w', commit: 'c' },
      goal: {
        id: 'g',
        objective: 'o',
        status: 'blocked',
        criteria: [{ id: 'c', text: 'o', status: 'refuted', checks: ['unit'] }],
        loops: 2,
        budget: {
          tokens: { used: 1000, limit: 10_000 },
          costUsd: { used: 0.1, limit: 5 },
          seconds: { used: 2, limit: 60 },
        },
        blockReason: 'no_progress',
      },
      usage: {
        inputTokens: 901,
        outputTokens: 102,
        costUsd: 0.1,
        unpriced: true,
        contextTokens: 3,
        contextWindow: 4000,
        limitUsd: 5,
        turn: { inputTokens: 900, outputTokens: 100, costUsd: 0.1 },
      },
      instructions: [{ path: 'AGENTS.md', sha256: '0a' }],
      skills: [{ name: 'tidy', path: 'user:skills/tidy/SKILL.md', sha256: '0b', isRead: true }],
      reviews: [{ patchset: 'p', path: 'a', hunk: 'h', verdict: 'reject', comment: 'c' }],
      held: {
        runId: 'run',
        commit: 'c',
        branch: 'refs/heads/writ/review-run',
        target: 'refs/heads/main',
        patchset: 'p',
      },
      updatedAt: at,
    },
  );
  t.strictSame(options[0], { id: 'approve', label: 'Approve' });
  t.strictSame(options[6], { id: 'deny', label: 'Deny', description: 'the call is not made' });
  t.strictSame(toSnapshot(newWorld({ local: 'none', attachable: [] }).state).controller, {
    kind: 'none',
    canWrite: false,
    reason: 'no client may attach',
    loopbackOnly: true,
  });
});
