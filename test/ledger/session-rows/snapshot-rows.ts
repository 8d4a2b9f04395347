import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const section = 'Session snapshot';
const shape = ofSession('state/snapshot');
const whole = 'a snapshot has the fields of the contract and no other';
const converse = ofSession('state/converse');
const routes = ofSession('api/session-routes');

/** Fields of an object of the snapshot, `name` before each. */
function fields(name: string, rule: string, of: readonly string[]): readonly SessionRow[] {
  return heldBy(section, shape, whole, Object.fromEntries(of.map((one) => [`snapshot ${name}${one}`, rule])));
}

/** The snapshot, its elements, the words of its states. */
export const snapshotRows: readonly SessionRow[] = [
  ...fields('', 'a field of the snapshot', [
    'sessionId',
    'threadId',
    'workingDir',
    'provider',
    'capabilities',
    'controller',
    'status',
    'settings',
    'transcript',
    'plans',
    'tasks',
    'toolCalls',
    'patchsets',
    'interactions',
    'updatedAt',
  ]),
  ...fields('settings.', 'what a person may change', ['context', 'networkAccess', 'review', 'model']),
  ...fields('provider.', 'of the provider', ['provider', 'model', 'mode', 'managed']),
  ...fields('capabilities.', 'a boolean', [
    'messageInput',
    'streamingText',
    'planUpdates',
    'toolCalls',
    'patchsets',
    'interactiveApprovals',
    'structuredQuestions',
    'providerSessionResume',
  ]),
  ...fields('', 'added beside what document 2 names', ['usage', 'goal', 'reviews', 'held']),
  ...fields('goal.', 'of the goal that was set last', [
    'id',
    'objective',
    'status',
    'criteria',
    'loops',
    'budget',
    'blockReason',
  ]),
  ...fields('goal.criteria.', 'of a criterion', ['id', 'text', 'checks', 'status']),
  ...fields('goal.budget.', 'of the budget', [
    'tokens',
    'tokens.used',
    'tokens.limit',
    'costUsd',
    'costUsd.used',
    'costUsd.limit',
    'seconds',
    'seconds.used',
    'seconds.limit',
  ]),
  ...fields('patchsets.changes.', 'of a change that is reviewed', ['hunks', 'unshown']),
  ...fields('patchsets.changes.hunks.', 'of a hunk', ['id', 'header']),
  ...fields('reviews.', 'what was said of a hunk', ['patchset', 'path', 'hunk', 'verdict', 'comment']),
  ...fields('held.', 'of the change that waits for its review', [
    'runId',
    'commit',
    'branch',
    'target',
    'patchset',
  ]),
  ...fields('usage.', 'what models came to', [
    'inputTokens',
    'outputTokens',
    'costUsd',
    'unpriced',
    'contextTokens',
    'contextWindow',
    'turn',
    'limitUsd',
  ]),
  ...fields('usage.turn.', 'the same of the turn', ['inputTokens', 'outputTokens', 'costUsd']),
  ...fields('controller.', 'of the controller', [
    'kind',
    'ownerLabel',
    'canWrite',
    'leaseExpiresAt',
    'reason',
    'loopbackOnly',
  ]),
  ...fields('transcript.', 'of an entry', [
    'id',
    'kind',
    'title',
    'content',
    'status',
    'streaming',
    'metadata',
    'createdAt',
    'updatedAt',
  ]),
  ...fields('plans.', 'of a plan', ['id', 'title', 'summary', 'status', 'steps', 'updatedAt']),
  ...fields('plans.', 'added beside what document 2 names', ['estimates', 'actuals']),
  ...fields('plans.estimates.', 'what a task is expected to cost', ['line', 'tokens', 'costUsd']),
  ...fields('plans.actuals.', 'what it came to', ['line', 'tokens', 'costUsd']),
  ...fields('plans.steps.', 'of a step', ['id', 'step', 'status']),
  ...fields('tasks.', 'of a task', ['id', 'title', 'status', 'details', 'updatedAt']),
  ...fields('toolCalls.', 'of a tool call', ['id', 'toolName', 'status', 'summary', 'details', 'updatedAt']),
  ...fields('toolCalls.', 'added beside what document 2 names: what a command of a person printed', [
    'output',
  ]),
  ...fields('patchsets.', 'of a patchset', ['id', 'status', 'changes', 'updatedAt']),
  ...fields('patchsets.changes.', 'of a change', ['path', 'changeType', 'diff']),
  ...fields('interactions.', 'of an interaction', [
    'id',
    'kind',
    'title',
    'description',
    'prompt',
    'options',
    'status',
    'metadata',
    'requestedAt',
    'resolvedAt',
  ]),
  ...fields('interactions.options.', 'of an option', ['id', 'label', 'description']),
  ...fields('transcript.metadata.', 'of a diff', ['patchset']),
  ...heldBy(section, converse, 'the status follows what happens', {
    'status idle': 'a turn has ended, or nothing has begun',
    'status thinking': 'a message was submitted, a tool has ended, a plan was confirmed',
    'status executing_tool': 'a tool runs, an approval was given',
    'status awaiting_interaction': 'a question is open',
    'status completed': 'a final Decision',
    'status error': 'a failure',
  }),
  ...heldBy(section, shape, whole, {
    'transcript user_message': 'what a person said',
    'transcript assistant_message': 'what the model said',
    'transcript tool_call': 'a tool that was called',
    'transcript plan_summary': 'a plan in words',
    'transcript info_note': 'what people have to know',
    'transcript diff': 'what a run changed, among what was said',
  }),
  ...heldBy(section, ofSession('work/announced'), 'a call is shown while the model still writes it', {
    'toolCall preview': 'announced, and has not begun',
  }),
  ...heldBy(section, converse, 'what a killed process left is told for what it is', {
    'toolCall running': 'it has begun',
    'toolCall completed': 'it has ended well',
    'toolCall failed': 'it has not; of what was killed: `unknown:`',
  }),
  ...heldBy(section, ofSession('work/turns'), 'a request is drafted, planned, executed and committed', {
    'projection apply_patch': 'what a model patches stands among the patchsets',
    'projection update_plan': 'what a model says of its plan stands among the plans',
  }),
  ...heldBy('Controllers', ofSession('serve/serve-session'), 'a session is served with what it runs on', {
    'controller none': 'nobody is attached, and why',
  }),
  ...heldBy('Controllers', routes, 'a client attaches, speaks, answers and leaves', {
    'controller browser': 'attaches by default',
  }),
  ...heldBy(
    'Controllers',
    ofSession('client/serve-requests'),
    'a program attaches, speaks, answers and leaves',
    {
      'controller automation': 'attaches with the control token',
    },
  ),
];
