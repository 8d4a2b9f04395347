import type { Fact } from '../../../session/state/fact.ts';
import { noAmounts, type SessionGoal } from '../../../session/state/goal.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import type { SessionState } from '../../../session/state/state.ts';
import { ground } from './walk.ts';

/** A session in which everything that a snapshot can show has happened, every optional field with it. */
export function everyFact(): SessionState {
  const by = { kind: 'browser', clientId: 'page' } as const;
  const estimates = [{ line: '1', tokens: 800, costUsd: 0.2 }];
  const plan = {
    id: 'plan',
    title: 't',
    summary: 's',
    status: 'proposed',
    estimates,
    estimatedFrom: 3,
  } as const;
  const ofTask = { plan: 'plan', task: 'a' } as const;
  const asked = {
    id: 'i',
    kind: 'approval',
    subject: 'x',
    title: 't',
    description: 'd',
    prompt: 'p',
  } as const;
  const limit = { tokens: 10_000, costUsd: 5, workMs: 60_000 };
  const goal: SessionGoal = {
    id: 'g',
    objective: 'o',
    status: 'active',
    criteria: [{ id: 'c', text: 'o', checks: ['unit'], status: 'refuted' }],
    loops: 2,
    budget: { grant: limit, limit, used: noAmounts },
    turn: 'turn',
  };
  const facts: readonly Fact[] = [
    {
      type: 'attached',
      lease: { kind: 'browser', clientId: 'page', tokenDigest: 'd', expiresAtMs: 9, endsAtMs: 9 },
    },
    { type: 'set', settings: { context: 'dev', networkAccess: 'allow', review: 'on', model: 'other' } },
    { type: 'said', id: 'm', text: 'hello', by },
    { type: 'talk-cut', how: 'compact' },
    {
      type: 'instructed',
      files: [{ path: 'AGENTS.md', sha256: '0a' }],
      skills: [{ name: 'tidy', path: 'user:skills/tidy/SKILL.md', sha256: '0b', isRead: true }],
    },
    { type: 'replied', id: 'r', text: 'well' },
    { type: 'tool', id: 'call', toolName: 'shell', status: 'running', summary: 's', details: 'd' },
    { type: 'printing', id: 'call', text: 'so far' },
    { type: 'noted', id: 'n', text: 'note', title: 'told' },
    {
      type: 'noted',
      id: 'o',
      text: 'passed',
      gate: { stage: 'fast', status: 'passed', ran: 1, expected: 2 },
      outcome: { runId: 'run', decision: 'commit', why: 'w', commit: 'c' },
    },
    { type: 'planned', plan: { ...plan, steps: [{ id: '1', step: 'do', status: 'pending', task: 'a' }] } },
    { type: 'tasked', task: { id: 'task', title: 't', status: 'running', details: 'd' } },
    {
      type: 'patched',
      patchset: {
        id: 'p',
        status: 'proposed',
        changes: [
          { path: 'a', changeType: 'modified', diff: '+', hunks: [{ id: 'h', header: '@@' }], unshown: 1 },
        ],
      },
      isWhole: true,
    },
    { type: 'turn-began', turn: 'turn' },
    { type: 'goal-began', goal },
    {
      type: 'goal-moved',
      goal: 'g',
      change: { status: 'blocked', blockReason: 'no_progress', workedMs: 2500 },
    },
    { type: 'used', turn: 'turn', inputTokens: 900, outputTokens: 100, costUsd: 0.1, ...ofTask },
    { type: 'used', turn: 'before', inputTokens: 1, outputTokens: 2, contextWindow: 4000 },
    {
      type: 'reviewed',
      id: 'v',
      review: { patchset: 'p', path: 'a', hunk: 'h', verdict: 'reject', comment: 'c' },
      by,
    },
    {
      type: 'review-began',
      review: {
        runId: 'run',
        commit: 'c',
        branch: 'refs/heads/writ/review-run',
        target: { ref: 'refs/heads/main', expected: 'b' },
        plan: 'plan',
        patchset: 'p',
        summary: 's',
      },
    },
    { type: 'limited', limitUsd: 5 },
    { type: 'asked', interaction: { ...asked, status: 'pending', metadata: {}, requestedAtMs: 1 } },
    { type: 'answered', id: 'i', answer: { option: 'approve' }, by },
  ];
  const provider = { provider: 'codex', model: 'm', mode: 'plan', managed: true };
  const opened = openedState({ type: 'opened', ground: ground({ local: 'none', provider }), atMs: 0 });
  return facts.reduce((state, fact) => reduce(state, { ...fact, atMs: 1000 }), opened);
}
